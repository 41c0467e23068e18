"""Play one episode and print every step: python examples/one_episode.py [provider/model]"""

import sys

import graphwalk


def main(model: str = "scripted/expert") -> None:
    graph = graphwalk.generate_graph("paper-100", seed=7)
    task = graphwalk.make_tasks(graph, seed=7, questions=["path_finding"])[0]
    print(task.question)

    result = graphwalk.play(task, graph, model=model)

    for number, turn in enumerate(result.trajectory.turns, 1):
        if turn.message.content:
            print(f"\n{number}. {turn.message.content}")
        for called in turn.results:
            print(f"\n{number}. {called.call.name} {called.call.arguments}")
            print(f"   {called.error or called.content[:100]} ({called.rows} rows)")

    if result.score is None:
        sys.exit(f"the episode failed: {result.trajectory.error}")
    print(f"\nanswer {result.answer}\ntarget {task.target}")
    print(f"correct: {result.score['correct']}, F1: {result.score['f1']:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
