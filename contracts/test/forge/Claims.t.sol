// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {NoReturnToken} from "../../src/devnet/NoReturnToken.sol";
import {IStream} from "../../src/streams/IStream.sol";
import {IStreamFactory} from "../../src/streams/IStreamFactory.sol";
import {Merkle} from "./Merkle.sol";
import {StreamTest} from "./StreamTest.sol";
import {HostileToken} from "./tokens/HostileToken.sol";
import {vm} from "./Vm.sol";

/// @dev What holds for each of the four ways to claim; `pay` is one of them.
abstract contract ClaimBehaviour is StreamTest {
    uint40 internal constant T1 = uint40(NOW - 100);
    uint40 internal constant T2 = uint40(NOW - 50);
    uint40 internal constant T3 = uint40(NOW);
    IStream internal stream;
    bytes32[] internal leaves;

    function setUp() public virtual override {
        super.setUp();
        stream = createStream(address(token), 1000);
        leaves = leavesOf(100, 200, 300);
        commit(stream, leaves, T1, 600);
    }

    /// @dev Has the stream pay `user`, in the way under test.
    function pay(address user, uint256 amount, uint40 timestamp, bytes32[] memory proof) internal virtual;

    function test_paysTheUserAndSaysSo() external {
        vm.assertTrue(canClaim(BOB, 200, T1, 1));
        vm.expectEmit(address(stream));
        emit IStream.RewardsClaimed(BOB, 200, 200, T1);
        pay(BOB, 200, T1, Merkle.proof(leaves, 1));
        vm.assertEq(token.balanceOf(BOB), 200);
        vm.assertEq(stream.getClaimedRewards(BOB), 200);
        vm.assertEq(stream.getTotalClaimed(), 200);
        vm.assertFalse(canClaim(BOB, 200, T1, 1));
    }

    function test_paysOnlyWhatIsNewUnderALaterRoot() external {
        pay(ALICE, 100, T1, Merkle.proof(leaves, 0));
        leaves = leavesOf(150, 200, 300);
        commit(stream, leaves, T2, 650);
        vm.expectEmit(address(stream));
        emit IStream.RewardsClaimed(ALICE, 50, 150, T2);
        pay(ALICE, 150, T2, Merkle.proof(leaves, 0));
        vm.assertEq(token.balanceOf(ALICE), 150);
    }

    function test_takesAProofForThePreviousRoot() external {
        bytes32[] memory old = leaves;
        leaves = leavesOf(150, 250, 400);
        commit(stream, leaves, T2, 800);
        pay(ALICE, 100, T1, Merkle.proof(old, 0));
        pay(ALICE, 150, T2, Merkle.proof(leaves, 0));
        vm.assertEq(token.balanceOf(ALICE), 150);
    }

    function test_paysInATokenThatReturnsNothing() external {
        NoReturnToken old = new NoReturnToken("Old", "OLD", 6);
        old.mint(ADMIN, 1000);
        allow(address(old), ADMIN);
        stream = createStream(bytes16(uint128(1)), address(old), 1000);
        commit(stream, leaves, T1, 600);
        pay(ALICE, 100, T1, Merkle.proof(leaves, 0));
        vm.assertEq(old.balanceOf(ALICE), 100);
    }

    function test_paysATreeOfOneLeafWithAnEmptyProof() external {
        stream = createStream(bytes16(uint128(1)), address(token), 10);
        leaves = new bytes32[](1);
        leaves[0] = Merkle.leaf(ALICE, 10);
        commit(stream, leaves, T1, 10);
        pay(ALICE, 10, T1, new bytes32[](0));
        vm.assertEq(token.balanceOf(ALICE), 10);
    }

    function test_reverts_FactoryIsPaused() external {
        vm.prank(PAUSER);
        factory.pause();
        expectRefusal(abi.encodeWithSelector(IStream.FactoryIsPaused.selector), ALICE, 100, T1, 0);
    }

    function test_reverts_ClaimsArePaused() external {
        vm.prank(PAUSER);
        factory.setClaimsPaused(address(stream), true);
        expectRefusal(abi.encodeWithSelector(IStream.ClaimsArePaused.selector), ALICE, 100, T1, 0);
        vm.prank(PAUSER);
        factory.setClaimsPaused(address(stream), false);
        pay(ALICE, 100, T1, Merkle.proof(leaves, 0));
    }

    function test_reverts_UnknownRoot() external {
        expectRefusal(abi.encodeWithSelector(IStream.UnknownRoot.selector, T2), ALICE, 100, T2, 0);
        expectRefusal(abi.encodeWithSelector(IStream.UnknownRoot.selector, 0), ALICE, 100, 0, 0);
        commit(stream, leavesOf(1, 2, 3), T2, 600);
        commit(stream, leavesOf(4, 5, 6), T3, 600);
        expectRefusal(abi.encodeWithSelector(IStream.UnknownRoot.selector, T1), ALICE, 100, T1, 0);
        stream = createStream(bytes16(uint128(1)), address(token), 1000);
        expectRefusal(abi.encodeWithSelector(IStream.UnknownRoot.selector, 0), ALICE, 100, 0, 0);
    }

    function test_reverts_InvalidProof() external {
        bytes memory reason = abi.encodeWithSelector(IStream.InvalidProof.selector);
        expectRefusal(reason, ALICE, 101, T1, 0);
        expectRefusal(reason, ALICE, 100, T1, 1);
        expectRefusal(reason, BOB, 100, T1, 0);
        expectRefusal(reason, ALICE, type(uint256).max, T1, 0);
    }

    function test_reverts_NothingToClaim() external {
        pay(ALICE, 100, T1, Merkle.proof(leaves, 0));
        expectRefusal(
            abi.encodeWithSelector(IStream.NothingToClaim.selector, ALICE, 100, 100), ALICE, 100, T1, 0
        );
        leaves = leavesOf(60, 200, 300);
        commit(stream, leaves, T2, 600);
        expectRefusal(abi.encodeWithSelector(IStream.NothingToClaim.selector, ALICE, 100, 60), ALICE, 60, T2, 0);
        leaves = leavesOf(60, 0, 300);
        commit(stream, leaves, T3, 600);
        expectRefusal(abi.encodeWithSelector(IStream.NothingToClaim.selector, BOB, 0, 0), BOB, 0, T3, 1);
    }

    function test_reverts_AllocationExhausted() external {
        leaves = leavesOf(100, type(uint256).max, 600);
        commit(stream, leaves, T2, 600);
        pay(ALICE, 100, T2, Merkle.proof(leaves, 0));
        bytes memory reason = abi.encodeWithSelector(IStream.AllocationExhausted.selector, 500, 600);
        expectRefusal(reason, CAROL, 600, T2, 2);
        reason = abi.encodeWithSelector(IStream.AllocationExhausted.selector, 500, type(uint256).max);
        expectRefusal(reason, BOB, type(uint256).max, T2, 1);
    }

    function test_reverts_TokenTookMore() external {
        HostileToken hostile = hostileStream();
        hostile.takeMore(1);
        bytes memory proof = abi.encode(Merkle.proof(leaves, 0));
        vm.expectRevert(abi.encodeWithSelector(IStream.TokenTookMore.selector, 100, 101));
        this.payInACall(ALICE, 100, T1, abi.decode(proof, (bytes32[])));
    }

    function test_reverts_SafeERC20FailedOperation() external {
        HostileToken hostile = hostileStream();
        hostile.returnFalse();
        vm.expectRevert(abi.encodeWithSelector(SafeERC20.SafeERC20FailedOperation.selector, address(hostile)));
        this.payInACall(ALICE, 100, T1, Merkle.proof(leaves, 0));
    }

    function test_reverts_ReentrancyGuardReentrantCall() external {
        HostileToken hostile = hostileStream();
        bytes memory again = abi.encodeCall(stream.claim, (100, T1, Merkle.proof(leaves, 0)));
        hostile.callBack(address(stream), again, false);
        vm.expectRevert(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
        this.payInACall(ALICE, 100, T1, Merkle.proof(leaves, 0));
    }

    /// @dev `pay` as one call from outside, so that its revert can be expected.
    function payInACall(address user, uint256 amount, uint40 timestamp, bytes32[] memory proof) external {
        pay(user, amount, timestamp, proof);
    }

    function hostileStream() internal returns (HostileToken hostile) {
        hostile = new HostileToken();
        hostile.mint(ADMIN, 1000);
        allow(address(hostile), ADMIN);
        stream = createStream(bytes16(uint128(1)), address(hostile), 1000);
        commit(stream, leaves, T1, 600);
    }

    function canClaim(address user, uint256 amount, uint40 timestamp, uint256 index) internal view returns (bool) {
        return stream.canClaim(user, amount, timestamp, Merkle.proof(leaves, index));
    }

    /// @dev Refused for `reason`, as `canClaim` foretold; the proof is that of the leaf at `index`.
    function expectRefusal(bytes memory reason, address user, uint256 amount, uint40 timestamp, uint256 index)
        internal
    {
        vm.assertFalse(canClaim(user, amount, timestamp, index));
        vm.expectRevert(reason);
        this.payInACall(user, amount, timestamp, Merkle.proof(leaves, index));
    }
}

contract ClaimTest is ClaimBehaviour {
    function pay(address user, uint256 amount, uint40 timestamp, bytes32[] memory proof) internal override {
        claimAs(stream, user, amount, timestamp, proof);
    }
}

contract ClaimForTest is ClaimBehaviour {
    function pay(address user, uint256 amount, uint40 timestamp, bytes32[] memory proof) internal override {
        vm.prank(address(factory));
        stream.claimFor(user, amount, timestamp, proof);
    }

    function test_claimFor_reverts_NotFactory() external {
        vm.expectRevert(abi.encodeWithSelector(IStream.NotFactory.selector, ALICE));
        vm.prank(ALICE);
        stream.claimFor(ALICE, 100, T1, Merkle.proof(leaves, 0));
    }
}

/// @dev What holds for both ways to claim from several streams.
abstract contract BatchBehaviour is ClaimBehaviour {
    function payBatch(address user, IStreamFactory.StreamClaim[] memory claims) internal virtual;

    function pay(address user, uint256 amount, uint40 timestamp, bytes32[] memory proof) internal override {
        IStreamFactory.StreamClaim[] memory claims = new IStreamFactory.StreamClaim[](1);
        claims[0] = IStreamFactory.StreamClaim(address(stream), amount, timestamp, proof);
        payBatch(user, claims);
    }

    function payBatchInACall(address user, IStreamFactory.StreamClaim[] memory claims) external {
        payBatch(user, claims);
    }

    function bothStreams() internal returns (IStreamFactory.StreamClaim[] memory claims) {
        IStream second = createStream(bytes16(uint128(2)), address(token), 1000);
        bytes32[] memory others = leavesOf(7, 8, 9);
        commit(second, others, T2, 24);
        claims = new IStreamFactory.StreamClaim[](2);
        claims[0] = IStreamFactory.StreamClaim(address(stream), 100, T1, Merkle.proof(leaves, 0));
        claims[1] = IStreamFactory.StreamClaim(address(second), 7, T2, Merkle.proof(others, 0));
    }

    function test_paysFromSeveralStreams() external {
        payBatch(ALICE, bothStreams());
        vm.assertEq(token.balanceOf(ALICE), 107);
    }

    function test_paysAllOrNothing() external {
        IStreamFactory.StreamClaim[] memory claims = bothStreams();
        claims[1].amount = 8;
        vm.expectRevert(IStream.InvalidProof.selector);
        this.payBatchInACall(ALICE, claims);
        vm.assertEq(token.balanceOf(ALICE), 0);
    }

    function test_doesNothingForAnEmptyBatch() external {
        payBatch(ALICE, new IStreamFactory.StreamClaim[](0));
        vm.assertEq(token.balanceOf(ALICE), 0);
    }

    function test_reverts_UnknownStream() external {
        stream = IStream(address(token));
        vm.expectRevert(abi.encodeWithSelector(IStreamFactory.UnknownStream.selector, address(token)));
        this.payInACall(ALICE, 100, T1, Merkle.proof(leaves, 0));
    }

    function test_reverts_ReentrancyGuardReentrantCall_ofTheFactory() external {
        HostileToken hostile = hostileStream();
        IStreamFactory.StreamClaim[] memory none = new IStreamFactory.StreamClaim[](0);
        hostile.callBack(address(factory), abi.encodeCall(factory.batchClaim, (none)), false);
        vm.expectRevert(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
        this.payInACall(ALICE, 100, T1, Merkle.proof(leaves, 0));
    }
}

contract BatchClaimTest is BatchBehaviour {
    function payBatch(address user, IStreamFactory.StreamClaim[] memory claims) internal override {
        vm.prank(user);
        factory.batchClaim(claims);
    }
}

contract BatchClaimForTest is BatchBehaviour {
    address private immutable OPERATOR = address(0x4001);

    function setUp() public override {
        super.setUp();
        address[3] memory users = [ALICE, BOB, CAROL];
        for (uint256 i = 0; i < users.length; i++) {
            vm.prank(users[i]);
            factory.setClaimOperator(OPERATOR, true);
        }
    }

    function payBatch(address user, IStreamFactory.StreamClaim[] memory claims) internal override {
        vm.prank(OPERATOR);
        factory.batchClaimFor(user, claims);
    }

    function test_batchClaimFor_reverts_NotClaimOperator() external {
        IStreamFactory.StreamClaim[] memory claims = bothStreams();
        bytes memory reason = abi.encodeWithSelector(IStreamFactory.NotClaimOperator.selector, ALICE, BOB);
        vm.expectRevert(reason);
        vm.prank(BOB);
        factory.batchClaimFor(ALICE, claims);

        vm.prank(ALICE);
        factory.setClaimOperator(OPERATOR, false);
        vm.expectRevert(abi.encodeWithSelector(IStreamFactory.NotClaimOperator.selector, ALICE, OPERATOR));
        this.payBatchInACall(ALICE, claims);
    }

    function test_batchClaimFor_reverts_ReentrancyGuardReentrantCall() external {
        HostileToken hostile = hostileStream();
        IStreamFactory.StreamClaim[] memory none = new IStreamFactory.StreamClaim[](0);
        hostile.callBack(address(factory), abi.encodeCall(factory.batchClaimFor, (ALICE, none)), false);
        vm.expectRevert(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
        this.payInACall(ALICE, 100, T1, Merkle.proof(leaves, 0));
    }
}
