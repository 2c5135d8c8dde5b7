"""Whether there is a GPU that tests may use."""


def has_gpu():
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()
