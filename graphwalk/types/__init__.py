"""The words that all parts share: graphs, schemas, chats, episodes. Data only, no behaviour beyond reading it."""
