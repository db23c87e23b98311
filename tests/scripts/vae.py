"""A variational autoencoder of digits, in the shape in which such scripts are published."""

import argparse

import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()  # noqa: UP008
        self.fc1 = nn.Linear(784, 64)
        self.fc21 = nn.Linear(64, 8)
        self.fc22 = nn.Linear(64, 8)
        self.fc3 = nn.Linear(8, 64)
        self.fc4 = nn.Linear(64, 784)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar, sample):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std if sample else mu

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x, sample=True):
        mu, logvar = self.encode(x.view(-1, 784))
        return self.decode(self.reparameterize(mu, logvar, sample)), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    bce = F.binary_cross_entropy(recon_x, x.view(-1, 784), reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce + kld


def train(args, model, device, loader, optimizer, epoch):
    model.train()
    train_loss = 0
    for batch_idx, (data, _) in enumerate(loader):
        data = data.to(device)
        optimizer.zero_grad()
        recon_batch, mu, logvar = model(data, not args.mean)
        loss = loss_function(recon_batch, data, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
        print(
            f"Train Epoch: {epoch} [{batch_idx}/{len(loader)}]\tLoss: {loss.item() / len(data):.9f}"
        )
        if args.dry_run and batch_idx + 1 == args.dry_run:
            break
    print(f"====> Epoch: {epoch} Total loss: {train_loss:.9f}")


def test(args, model, device, loader):
    model.eval()
    test_loss = 0
    with torch.no_grad():
        for data, _ in loader:
            data = data.to(device)
            recon_batch, mu, logvar = model(data, not args.mean)
            test_loss += loss_function(recon_batch, data, mu, logvar).item()
    print(f"====> Test set loss: {test_loss / len(loader.dataset):.9f}")


def main():
    parser = argparse.ArgumentParser(description="VAE")
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--mean", action="store_true", help="decode the mean, draw nothing")
    parser.add_argument("--no-shuffle", action="store_true")
    parser.add_argument("--dry-run", type=int, default=0, help="so many batches for each epoch")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--weights", help="begin with the weights of this file")
    parser.add_argument("--save-model", help="a file for the weights at the end")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    to_tensor = transforms.ToTensor()
    train_set = datasets.MNIST("../data", train=True, download=True, transform=to_tensor)
    test_set = datasets.MNIST("../data", train=False, transform=to_tensor)
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=not args.no_shuffle)
    test_loader = DataLoader(test_set, batch_size=args.batch_size, shuffle=False)
    model = VAE().to(device)
    if args.weights:
        model.load_state_dict(torch.load(args.weights, map_location=device))
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(1, args.epochs + 1):
        train(args, model, device, train_loader, optimizer, epoch)
        test(args, model, device, test_loader)
        with torch.no_grad():
            sample = model.decode(torch.randn(4, 8).to(device)).cpu()
            assert sample.view(4, 1, 28, 28).shape == (4, 1, 28, 28)
    if args.save_model:
        torch.save(model.state_dict(), args.save_model)


if __name__ == "__main__":
    main()
