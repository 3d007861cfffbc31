"""Results as text: cards, screens, facts for JSON, and explanations."""
