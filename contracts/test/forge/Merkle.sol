// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

/// @dev A complete binary tree over leaves in the order given, pairs hashed in sorted order.
library Merkle {
    function leaf(address user, uint256 cumulative) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(user, cumulative));
    }

    function root(bytes32[] memory leaves) internal pure returns (bytes32) {
        return _build(leaves)[0];
    }

    function proof(bytes32[] memory leaves, uint256 index) internal pure returns (bytes32[] memory path) {
        bytes32[] memory tree = _build(leaves);
        uint256 start = tree.length - 1 - index;
        uint256 depth;
        for (uint256 node = start; node > 0; node = (node - 1) / 2) {
            depth++;
        }
        path = new bytes32[](depth);
        uint256 i;
        for (uint256 node = start; node > 0; node = (node - 1) / 2) {
            path[i++] = tree[node % 2 == 0 ? node - 1 : node + 1];
        }
    }

    function _build(bytes32[] memory leaves) private pure returns (bytes32[] memory tree) {
        tree = new bytes32[](2 * leaves.length - 1);
        for (uint256 i = 0; i < leaves.length; i++) {
            tree[tree.length - 1 - i] = leaves[i];
        }
        for (uint256 i = leaves.length - 1; i > 0; i--) {
            tree[i - 1] = _hashPair(tree[2 * i - 1], tree[2 * i]);
        }
    }

    function _hashPair(bytes32 a, bytes32 b) private pure returns (bytes32) {
        return a < b ? keccak256(abi.encodePacked(a, b)) : keccak256(abi.encodePacked(b, a));
    }
}
