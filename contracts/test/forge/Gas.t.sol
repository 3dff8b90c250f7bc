// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IStream} from "../../src/streams/IStream.sol";
import {IStreamFactory} from "../../src/streams/IStreamFactory.sol";
import {StreamTest} from "./StreamTest.sol";
import {vm} from "./Vm.sol";

/// @dev What each operation costs as a transaction of its own, over a plain ERC-20. Kept in test/gas/GasTest.json.
/// forge-config: default.isolate = true
contract GasTest is StreamTest {
    uint256 private constant DEPTH = 17;
    IStream private stream;

    function setUp() public override {
        super.setUp();
        stream = createStream(bytes16(uint128(1)), address(token), 10_000);
    }

    function test_gasOfCreateStream() external {
        IStreamFactory.CreateStreamParams memory params = createParams(address(token), 1000, 15);
        bytes memory signature = signCreate(ADMIN, params);
        vm.prank(ADMIN);
        factory.createStream(params, DEADLINE, signature);
        vm.snapshotGasLastCall("createStream with a fee");
    }

    function test_gasOfAddFunds() external {
        addFunds(stream, 1000, 15, SALT);
        vm.snapshotGasLastCall("addFunds with a fee");
    }

    function test_gasOfWithdrawFunds() external {
        withdrawFunds(stream, ADMIN, 1000, SALT);
        vm.snapshotGasLastCall("withdrawFunds");
    }

    function test_gasOfUpdateRoot() external {
        vm.prank(COMMITTER);
        stream.updateRoot(keccak256("1"), uint40(NOW - 3), 1000);
        vm.snapshotGasLastCall("updateRoot, the first");
        vm.prank(COMMITTER);
        stream.updateRoot(keccak256("2"), uint40(NOW - 2), 2000);
        vm.snapshotGasLastCall("updateRoot, the second");
        vm.prank(COMMITTER);
        stream.updateRoot(keccak256("3"), uint40(NOW - 1), 3000);
        vm.snapshotGasLastCall("updateRoot, a later one");
    }

    function test_gasOfClaim() external {
        bytes32[] memory proof = commitDeepTree(stream, 100, NOW - 1);
        vm.prank(ALICE);
        stream.claim(100, uint40(NOW - 1), proof);
        vm.snapshotGasLastCall("claim, the first, of 131,072 leaves");
        proof = commitDeepTree(stream, 250, NOW);
        vm.prank(ALICE);
        stream.claim(250, uint40(NOW), proof);
        vm.snapshotGasLastCall("claim, a later one, of 131,072 leaves");
    }

    function test_gasOfBatchClaim() external {
        IStreamFactory.StreamClaim[] memory claims = new IStreamFactory.StreamClaim[](3);
        for (uint256 i = 0; i < claims.length; i++) {
            IStream one = createStream(bytes16(uint128(10 + i)), address(token), 1000);
            claims[i] = IStreamFactory.StreamClaim(address(one), 100, uint40(NOW), commitDeepTree(one, 100, NOW));
        }
        vm.prank(ALICE);
        factory.batchClaim(claims);
        vm.snapshotGasLastCall("batchClaim of three streams");
    }

    /// @dev A root over a path of made-up siblings, as deep as a tree of 2^17 leaves; the proof of Alice's leaf.
    function commitDeepTree(IStream one, uint256 amount, uint256 timestamp) private returns (bytes32[] memory proof) {
        proof = new bytes32[](DEPTH);
        bytes32 node = keccak256(abi.encodePacked(ALICE, amount));
        for (uint256 i = 0; i < DEPTH; i++) {
            proof[i] = keccak256(abi.encode("sibling", i));
            node = node < proof[i]
                ? keccak256(abi.encodePacked(node, proof[i]))
                : keccak256(abi.encodePacked(proof[i], node));
        }
        vm.prank(COMMITTER);
        one.updateRoot(node, uint40(timestamp), amount);
    }
}
