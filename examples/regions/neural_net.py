"""Train a small network: a global region, functions, batches with iter_proxy, and a Chrome trace."""

import numpy as np

import sonde.regions as rp

RATE, BATCH, STEPS = 0.1, 128, 20


class NeuralNet:
    """784 inputs, two hidden layers, 10 classes."""

    def __init__(self, random):
        sizes = [784, 128, 32, 10]
        self.weights = [
            random.standard_normal(shape) * np.sqrt(2 / shape[0]) for shape in zip(sizes, sizes[1:], strict=False)
        ]

    def __call__(self, x):
        layer1, layer2, out_layer = self.weights
        with rp.region("NN", asglobal=True):
            with rp.region("layer 1"):
                self.hidden1 = np.maximum(x @ layer1, 0)
            with rp.region("layer 2"):
                self.hidden2 = np.maximum(self.hidden1 @ layer2, 0)
            with rp.region("out layer"):
                logits = self.hidden2 @ out_layer
                logits -= logits.max(axis=1, keepdims=True)
                exponents = np.exp(logits)
                self.output = exponents / exponents.sum(axis=1, keepdims=True)
            return self.output


@rp.func()
def loss_fn(inference_fn, inputs, labels):
    probabilities = inference_fn(inputs)
    return -np.log(probabilities[np.arange(len(labels)), labels] + 1e-9).mean()


@rp.func()
def accuracy_fn(inference_fn, inputs, labels):
    return (inference_fn(inputs).argmax(axis=1) == labels).mean()


def grad(net, inputs, labels):
    loss_fn(net, inputs, labels)  # leaves the layers' outputs in the network
    _, layer2, out_layer = net.weights
    delta = net.output.copy()
    delta[np.arange(len(labels)), labels] -= 1
    delta /= len(labels)
    below2 = (delta @ out_layer.T) * (net.hidden2 > 0)
    below1 = (below2 @ layer2.T) * (net.hidden1 > 0)
    return [inputs.T @ below1, net.hidden1.T @ below2, net.hidden2.T @ delta]


def batches(random):
    """Points around ten centers."""
    centres = random.standard_normal((10, 784))
    for _ in range(STEPS):
        labels = random.integers(0, 10, BATCH)
        yield centres[labels] + random.standard_normal((BATCH, 784)), labels


def main():
    random = np.random.default_rng(7)
    net = NeuralNet(random)
    with rp.region("train"):
        for x_batch, y_batch in rp.iter_proxy(batches(random), "fetch_next"):
            with rp.region("forward"):
                batch_loss = loss_fn(net, x_batch, y_batch)
                batch_accuracy = accuracy_fn(net, x_batch, y_batch)
            with rp.region("backward"):
                for weight, gradient in zip(net.weights, grad(net, x_batch, y_batch), strict=True):
                    weight -= RATE * gradient
    print(f"loss {batch_loss:.3f}, accuracy {batch_accuracy:.0%}")


if __name__ == "__main__":
    rp.install(chrome_trace_file="trace.json")
    main()
