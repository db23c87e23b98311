"""Graph convolutions that tell the groups of a graph apart, in the shape of published scripts."""

import argparse
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.nn.parameter import Parameter


def normalize(mx):
    """Rows that sum to one."""
    rowsum = mx.sum(1, keepdims=True)
    return mx / np.where(rowsum == 0, 1.0, rowsum)


def to_sparse_tensor(mx):
    row, col = np.nonzero(mx)
    indices = torch.from_numpy(np.vstack((row, col)).astype(np.int64))
    values = torch.from_numpy(mx[row, col].astype(np.float32))
    return torch.sparse_coo_tensor(indices, values, torch.Size(mx.shape), check_invariants=True)


def load_data(nodes=90, groups=3, words=40, seed=3):
    """A graph with more edges inside of groups than between them, and noisy words at its nodes."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, groups, nodes)
    alike = labels[:, None] == labels[None, :]
    upper = np.triu(rng.random((nodes, nodes)) < np.where(alike, 0.15, 0.02), 1)
    chance = np.where(np.arange(words)[None, :] % groups == labels[:, None], 0.25, 0.15)
    features = normalize((rng.random((nodes, words)) < chance).astype(np.float32))
    adj = to_sparse_tensor(normalize(upper + upper.T + np.eye(nodes)))
    order = rng.permutation(nodes)
    idx_train, idx_test = torch.LongTensor(order[:30]), torch.LongTensor(order[30:])
    return adj, torch.FloatTensor(features), torch.LongTensor(labels), idx_train, idx_test


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super(GraphConvolution, self).__init__()  # noqa: UP008
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(torch.FloatTensor(in_features, out_features))
        if bias:
            self.bias = Parameter(torch.FloatTensor(out_features))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        stdv = 1.0 / math.sqrt(self.weight.size(1))
        self.weight.data.uniform_(-stdv, stdv)
        if self.bias is not None:
            self.bias.data.uniform_(-stdv, stdv)

    def forward(self, input, adj):
        support = torch.mm(input, self.weight)
        output = torch.spmm(adj, support)
        return output + self.bias if self.bias is not None else output

    def __repr__(self):
        return f"{self.__class__.__name__} ({self.in_features} -> {self.out_features})"


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout):
        super(GCN, self).__init__()  # noqa: UP008
        self.gc1 = GraphConvolution(nfeat, nhid)
        self.gc2 = GraphConvolution(nhid, nclass)
        self.dropout = dropout

    def forward(self, x, adj):
        x = F.relu(self.gc1(x, adj))
        x = F.dropout(x, self.dropout, training=self.training)
        x = self.gc2(x, adj)
        return F.log_softmax(x, dim=1)


def accuracy(output, labels):
    preds = output.max(1)[1].type_as(labels)
    correct = preds.eq(labels).double()
    return correct.sum() / len(labels)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--weight-decay", type=float, default=5e-4)
    parser.add_argument("--hidden", type=int, default=16)
    parser.add_argument("--dropout", type=float, default=0.5)
    parser.add_argument("--weights")
    parser.add_argument("--save-model")
    args = parser.parse_args()

    np.random.seed(42)
    torch.manual_seed(42)
    adj, features, labels, idx_train, idx_test = load_data()
    model = GCN(features.shape[1], args.hidden, labels.max().item() + 1, args.dropout)
    if args.weights:
        model.load_state_dict(torch.load(args.weights))
    optimizer = optim.Adam(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    if torch.cuda.is_available():
        model.cuda()
        features, adj, labels = features.cuda(), adj.cuda(), labels.cuda()
        idx_train, idx_test = idx_train.cuda(), idx_test.cuda()

    for epoch in range(args.epochs):
        model.train()
        optimizer.zero_grad()
        output = model(features, adj)
        loss_train = F.nll_loss(output[idx_train], labels[idx_train])
        acc_train = accuracy(output[idx_train], labels[idx_train])
        loss_train.backward()
        optimizer.step()
        print(f"Epoch: {epoch + 1:04d}\tLoss: {loss_train.item():.9f}\tacc: {acc_train.item():.4f}")

    model.eval()
    output = model(features, adj)
    loss_test = F.nll_loss(output[idx_test], labels[idx_test])
    print(f"Test set results: loss: {loss_test.item():.9f}")
    print(f"accuracy: {accuracy(output[idx_test], labels[idx_test]).item():.4f}")
    if args.save_model:
        torch.save(model.state_dict(), args.save_model)


if __name__ == "__main__":
    main()
