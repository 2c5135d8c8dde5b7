"""Earlier methods, each as strong as its authors meant it."""
