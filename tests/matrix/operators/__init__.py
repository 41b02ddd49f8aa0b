"""One small topology for each operator; all of them run side by side in one application."""
