"""What models are trained with: chats from the episodes of runs, proof that splits share nothing, rewards."""
