"""Generated datasets as PyTorch reads them: by index, or as a stream of shards.

Shards enter; dictionaries of tensors leave, which ``torch.utils.data.DataLoader`` batches with
:func:`collate`. Needs torch: ``pip install 'robustclevr[torch]'``.
"""

from robustclevr.torch.items import Item, collate
from robustclevr.torch.samples import SplitSamples
from robustclevr.torch.stream import SplitStream

__all__ = ["Item", "SplitSamples", "SplitStream", "collate"]
