"""The operators of a training step of a ResNet-18 or of a small transformer; pass one of the two names."""

import sys

import torch
from torch import nn

from sonde.torch import ProfilerActivity, profile, record_function


class Block(nn.Module):
    """Two convolutions with a skip connection."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)
        self.around = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.around = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, image):
        result = torch.relu(self.first_norm(self.first(image)))
        return torch.relu(self.second_norm(self.second(result)) + self.around(image))


class ResNet18(nn.Module):
    """Eighteen layers: a stem, eight blocks and a classifier."""

    def __init__(self, classes=1000):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        )
        sizes = [(64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)]
        self.blocks = nn.Sequential(
            *(block for a, b, stride in sizes for block in (Block(a, b, stride), Block(b, b, 1)))
        )
        self.classify = nn.Linear(512, classes)

    def forward(self, image):
        features = self.blocks(self.stem(image))
        return self.classify(features.mean((2, 3)))


class Layer(nn.Module):
    """Attention and two dense layers, each with a skip connection."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.join = nn.Linear(width, width)
        self.dense = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.before_attention = nn.LayerNorm(width)
        self.before_dense = nn.LayerNorm(width)

    def attend(self, words):
        batch, length, width = words.shape
        parts = self.project(words).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        weights = (query @ key.transpose(-1, -2) / (width // self.heads) ** 0.5).softmax(-1)
        return self.join((weights @ value).transpose(1, 2).reshape(batch, length, width))

    def forward(self, words):
        words = words + self.attend(self.before_attention(words))
        return words + self.dense(self.before_dense(words))


class Transformer(nn.Module):
    """A small language model: an embedding, a few layers and a prediction of the next word."""

    def __init__(self, words=500, width=64, heads=4, layers=2, length=128):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.place = nn.Parameter(torch.zeros(length, width))
        self.layers = nn.Sequential(*(Layer(width, heads) for _ in range(layers)))
        self.guess = nn.Linear(width, words)

    def forward(self, words):
        return self.guess(self.layers(self.embed(words) + self.place[: words.shape[1]]))


def resnet18(size=64, batch=2):
    """The model, an optimizer and a function that returns the loss."""
    model = ResNet18(classes=10)
    images, labels = torch.randn(batch, 3, size, size), torch.randint(0, 10, (batch,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    return model, optimizer, lambda: nn.functional.cross_entropy(model(images), labels)


def transformer(length=32, batch=4):
    """The model, an optimizer and a function that returns the loss."""
    model = Transformer()
    words = torch.randint(0, 500, (batch, length + 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return (
        model,
        optimizer,
        lambda: nn.functional.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten()),
    )


MODELS = {"resnet18": resnet18, "transformer": transformer}


def train_step(optimizer, loss_of):
    """Forward, backward and the optimizer's step."""
    with record_function("forward"):
        loss = loss_of()
    with record_function("backward"):
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "resnet18"
    if name not in MODELS:
        sys.exit(f"unknown model '{name}'; choose from {', '.join(MODELS)}")
    _model, optimizer, loss_of = MODELS[name]()
    train_step(optimizer, loss_of)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
        train_step(optimizer, loss_of)
    print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=20))
    print(prof.key_averages(group_by_input_shape=True).table(sort_by="cpu_time_total", row_limit=20))


if __name__ == "__main__":
    main()
