"""Slot Attention, a small trainable reference; needs the extra ``torch``.

The modules import torch, all but ``config``; nothing else of the project imports them before a
command has asked for them.
"""
