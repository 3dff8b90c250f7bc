// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {TestToken} from "../../src/devnet/TestToken.sol";
import {IStream} from "../../src/streams/IStream.sol";
import {IStreamFactory} from "../../src/streams/IStreamFactory.sol";
import {Merkle} from "./Merkle.sol";
import {StreamTest} from "./StreamTest.sol";
import {HostileToken} from "./tokens/HostileToken.sol";
import {RebasingToken} from "./tokens/RebasingToken.sol";
import {vm} from "./Vm.sol";

/// @dev Attacks of SECURITY.md that the tests of the single functions do not already make.
contract HostileReviewTest is StreamTest {
    uint40 private constant T1 = uint40(NOW - 2);
    uint40 private constant T2 = uint40(NOW - 1);
    uint40 private constant T3 = uint40(NOW);
    IStream private stream;

    function setUp() public override {
        super.setUp();
        stream = createStream(address(token), 1000);
    }

    function test_replay_aSignatureIsGoodForOneUseOnly() external {
        IStreamFactory.AddFundsParams memory params = IStreamFactory.AddFundsParams(address(stream), 10, 1);
        bytes memory signature = signAdd(ADMIN, params, SALT);
        vm.prank(ADMIN);
        factory.addFunds(params, SALT, DEADLINE, signature);
        vm.expectRevert(abi.encodeWithSelector(IStreamFactory.SaltAlreadyUsed.selector, SALT));
        vm.prank(ADMIN);
        factory.addFunds(params, SALT, DEADLINE, signature);
        vm.assertEq(token.balanceOf(COLLECTOR), 1);
    }

    function test_replay_oneKindIsNotAnotherEvenWithOneKeyInBothOffices() external {
        vm.prank(OWNER);
        factory.setRole(IStreamFactory.Role.WithdrawVerifier, vm.addr(CREATE_KEY));
        IStreamFactory.AddFundsParams memory add =
            IStreamFactory.AddFundsParams(address(stream), uint256(uint160(ADMIN)), 10);
        bytes memory signature = signAdd(ADMIN, add, SALT);
        IStreamFactory.WithdrawFundsParams memory out =
            IStreamFactory.WithdrawFundsParams(address(stream), ADMIN, 10);
        vm.assertEq(keccak256(abi.encode(add)), keccak256(abi.encode(out)));
        vm.expectRevert(IStreamFactory.InvalidSignature.selector);
        vm.prank(ADMIN);
        factory.withdrawFunds(out, SALT, DEADLINE, signature);
    }

    function test_replay_theShortFormOfASignatureIsRefused() external {
        IStreamFactory.AddFundsParams memory params = IStreamFactory.AddFundsParams(address(stream), 10, 0);
        (uint8 v, bytes32 r, bytes32 s) =
            vm.sign(CREATE_KEY, factory.getAddFundsDigest(ADMIN, params, SALT, DEADLINE));
        bytes memory short = abi.encodePacked(r, bytes32(uint256(s) | (uint256(v - 27) << 255)));
        vm.expectRevert(IStreamFactory.InvalidSignature.selector);
        vm.prank(ADMIN);
        factory.addFunds(params, SALT, DEADLINE, short);
    }

    function test_approvals_areOnlyUsedForTheirOwner() external {
        allow(address(token), BOB);
        token.mint(BOB, 1000);
        IStreamFactory.CreateStreamParams memory params =
            IStreamFactory.CreateStreamParams(bytes16(uint128(7)), address(token), 10, 1);
        bytes memory signature = signCreate(CAROL, params);
        vm.expectRevert(
            abi.encodeWithSelector(IERC20Errors.ERC20InsufficientAllowance.selector, address(factory), 0, 10)
        );
        vm.prank(CAROL);
        factory.createStream(params, DEADLINE, signature);
        vm.assertEq(token.balanceOf(BOB), 1000);
    }

    function test_fees_withoutMeansForTheFeeNothingIsCreated() external {
        token.mint(CAROL, 10);
        allow(address(token), CAROL);
        IStreamFactory.CreateStreamParams memory params =
            IStreamFactory.CreateStreamParams(bytes16(uint128(7)), address(token), 10, 1);
        bytes memory signature = signCreate(CAROL, params);
        vm.expectRevert(abi.encodeWithSelector(IERC20Errors.ERC20InsufficientBalance.selector, CAROL, 0, 1));
        vm.prank(CAROL);
        factory.createStream(params, DEADLINE, signature);
        vm.assertFalse(factory.isStream(factory.getStreamAddress(bytes16(uint128(7)))));
    }

    function test_dust_sentToAStreamOnlyAddsToWhatIsWithdrawable() external {
        bytes32[] memory leaves = leavesOf(100, 200, 300);
        commit(stream, leaves, T1, 600);
        token.mint(address(stream), 1);
        vm.assertEq(stream.getWithdrawable(), 401);
        addFunds(stream, 5, 0, SALT);
        token.mint(address(stream), 1);
        claimAs(stream, ALICE, 100, T1, Merkle.proof(leaves, 0));
        commit(stream, leaves, T2, 601);
        withdrawFunds(stream, ADMIN, stream.getWithdrawable(), keccak256("out"));
        vm.assertEq(token.balanceOf(address(stream)), 501);
    }

    function test_dust_oneUnitIsFundedCommittedClaimedAndWithdrawn() external {
        IStream small = createStream(bytes16(uint128(7)), address(token), 1);
        bytes32[] memory leaves = leavesOf(1, 0, 0);
        addFunds(small, 1, 1, SALT);
        commit(small, leaves, T1, 1);
        claimAs(small, ALICE, 1, T1, Merkle.proof(leaves, 0));
        withdrawFunds(small, BOB, 1, keccak256("out"));
        vm.assertEq(token.balanceOf(address(small)), 0);
    }

    function test_extremes_theLargestAmountIsFundedAndClaimed() external {
        TestToken whole = new TestToken("Whole", "ALL", 18);
        whole.mint(ADMIN, type(uint256).max);
        allow(address(whole), ADMIN);
        IStream big = createStream(bytes16(uint128(7)), address(whole), type(uint256).max);
        bytes32[] memory leaves = leavesOf(type(uint256).max, 1, 0);
        commit(big, leaves, T1, type(uint256).max);
        claimAs(big, ALICE, type(uint256).max, T1, Merkle.proof(leaves, 0));
        vm.assertEq(whole.balanceOf(ALICE), type(uint256).max);
        vm.expectRevert(abi.encodeWithSelector(IStream.AllocationExhausted.selector, 0, 1));
        this.claimInACall(big, BOB, 1, T1, Merkle.proof(leaves, 1));
    }

    function test_stuck_everythingCanLeave() external {
        bytes32[] memory leaves = leavesOf(100, 200, 300);
        commit(stream, leaves, T1, 600);
        claimAs(stream, ALICE, 100, T1, Merkle.proof(leaves, 0));
        claimAs(stream, BOB, 200, T1, Merkle.proof(leaves, 1));
        withdrawFunds(stream, ADMIN, 400, SALT);
        claimAs(stream, CAROL, 300, T1, Merkle.proof(leaves, 2));
        vm.assertEq(token.balanceOf(address(stream)), 0);
    }

    function test_stuck_whatWasAllocatedToNobodyIsReleasedByALeafForTheAdmin() external {
        commit(stream, leavesOf(100, 200, 300), T1, 700);
        bytes32[] memory leaves = new bytes32[](2);
        leaves[0] = Merkle.leaf(ALICE, 600);
        leaves[1] = Merkle.leaf(ADMIN, 100);
        commit(stream, leaves, T2, 700);
        claimAs(stream, ADMIN, 100, T2, Merkle.proof(leaves, 1));
        claimAs(stream, ALICE, 600, T2, Merkle.proof(leaves, 0));
        vm.assertEq(stream.getTotalClaimed(), 700);
    }

    function test_stuck_aNegativeRebaseIsHealedByTokensSentToTheStream() external {
        RebasingToken rebasing = new RebasingToken();
        rebasing.mint(ADMIN, 1000);
        allow(address(rebasing), ADMIN);
        IStream shrunk = createStream(bytes16(uint128(7)), address(rebasing), 1000);
        bytes32[] memory leaves = leavesOf(500, 500, 0);
        commit(shrunk, leaves, T1, 1000);
        rebasing.rebase(0.5e18);
        vm.assertEq(shrunk.getWithdrawable(), 0);
        claimAs(shrunk, ALICE, 500, T1, Merkle.proof(leaves, 0));
        vm.expectRevert();
        this.claimInACall(shrunk, BOB, 500, T1, Merkle.proof(leaves, 1));
        rebasing.mint(address(shrunk), 500);
        claimAs(shrunk, BOB, 500, T1, Merkle.proof(leaves, 1));
        vm.assertEq(rebasing.balanceOf(BOB), 500);
    }

    function test_stuck_nativeCoinIsNotTaken() external {
        (bool taken,) = address(factory).call{value: 1}("");
        vm.assertFalse(taken);
        (taken,) = address(stream).call{value: 1}("");
        vm.assertFalse(taken);
    }

    function test_committer_whoPromisesTooMuchPaysOutNoMoreThanWasAllocated() external {
        bytes32[] memory leaves = leavesOf(600, 600, 600);
        commit(stream, leaves, T1, 1000);
        claimAs(stream, ALICE, 600, T1, Merkle.proof(leaves, 0));
        vm.expectRevert(abi.encodeWithSelector(IStream.AllocationExhausted.selector, 400, 600));
        this.claimInACall(stream, BOB, 600, T1, Merkle.proof(leaves, 1));
        vm.expectRevert(abi.encodeWithSelector(IStream.AllocationAboveFunded.selector, 1000, 1001));
        this.commitInACall(stream, leaves, T2, 1001);
    }

    function test_committer_aBadRootIsVoidAfterTwoMore() external {
        bytes32[] memory bad = leavesOf(0, 0, 1000);
        commit(stream, bad, T1, 1000);
        vm.prank(PAUSER);
        factory.setClaimsPaused(address(stream), true);
        bytes32[] memory good = leavesOf(100, 200, 300);
        commit(stream, good, T2, 1000);
        commit(stream, good, T3, 1000);
        vm.prank(PAUSER);
        factory.setClaimsPaused(address(stream), false);
        vm.expectRevert(abi.encodeWithSelector(IStream.UnknownRoot.selector, T1));
        this.claimInACall(stream, CAROL, 1000, T1, Merkle.proof(bad, 2));
        claimAs(stream, CAROL, 300, T3, Merkle.proof(good, 2));
    }

    function test_proofs_ofAnotherStreamDoNotHelp() external {
        IStream other = createStream(bytes16(uint128(7)), address(token), 1000);
        bytes32[] memory mine = leavesOf(100, 200, 300);
        bytes32[] memory theirs = leavesOf(900, 0, 0);
        commit(stream, mine, T1, 600);
        commit(other, theirs, T1, 900);
        vm.expectRevert(IStream.InvalidProof.selector);
        this.claimInACall(stream, ALICE, 900, T1, Merkle.proof(theirs, 0));
    }

    function test_proofs_ofTheSameTreeInTwoStreamsPayOncePerStream() external {
        IStream other = createStream(bytes16(uint128(7)), address(token), 1000);
        bytes32[] memory leaves = leavesOf(100, 200, 300);
        commit(stream, leaves, T1, 600);
        commit(other, leaves, T1, 600);
        claimAs(stream, ALICE, 100, T1, Merkle.proof(leaves, 0));
        claimAs(other, ALICE, 100, T1, Merkle.proof(leaves, 0));
        vm.assertFalse(stream.canClaim(ALICE, 100, T1, Merkle.proof(leaves, 0)));
        vm.assertEq(token.balanceOf(ALICE), 200);
    }

    function test_proofs_anInnerNodeIsNoLeaf() external {
        bytes32[] memory leaves = leavesOf(100, 200, 300);
        commit(stream, leaves, T1, 600);
        bytes32[] memory short = new bytes32[](1);
        short[0] = leaves[0];
        vm.expectRevert(IStream.InvalidProof.selector);
        this.claimInACall(stream, ALICE, 100, T1, short);
        vm.expectRevert(IStream.InvalidProof.selector);
        this.claimInACall(stream, ALICE, 100, T1, new bytes32[](0));
    }

    function test_operators_cannotSendRewardsElsewhere() external {
        bytes32[] memory leaves = leavesOf(100, 200, 300);
        commit(stream, leaves, T1, 600);
        vm.prank(ALICE);
        factory.setClaimOperator(BOB, true);
        IStreamFactory.StreamClaim[] memory claims = new IStreamFactory.StreamClaim[](1);
        claims[0] = IStreamFactory.StreamClaim(address(stream), 100, T1, Merkle.proof(leaves, 0));
        vm.prank(BOB);
        factory.batchClaimFor(ALICE, claims);
        vm.assertEq(token.balanceOf(ALICE), 100);
        vm.assertEq(token.balanceOf(BOB), 0);
    }

    function test_reentrancy_aClaimInsideTheFundingOfAnotherStreamIsCountedRightly() external {
        HostileToken hostile = new HostileToken();
        hostile.mint(ADMIN, 2000);
        allow(address(hostile), ADMIN);
        IStream first = createStream(bytes16(uint128(7)), address(hostile), 1000);
        bytes32[] memory leaves = new bytes32[](1);
        leaves[0] = Merkle.leaf(address(hostile), 400);
        commit(first, leaves, T1, 400);
        bytes memory claimIt = abi.encodeCall(first.claim, (400, T1, new bytes32[](0)));
        hostile.callBack(address(first), claimIt, false);
        IStream second = createStream(bytes16(uint128(8)), address(hostile), 1000);
        vm.assertEq(hostile.balanceOf(address(second)), 1000);
        vm.assertEq(hostile.balanceOf(address(first)), 600);
        vm.assertEq(first.getTotalClaimed(), 400);
    }

    function test_reentrancy_aClaimInsideTheFundingOfTheSameStreamIsRefused() external {
        HostileToken hostile = new HostileToken();
        hostile.mint(ADMIN, 2000);
        allow(address(hostile), ADMIN);
        IStream first = createStream(bytes16(uint128(7)), address(hostile), 1000);
        bytes32[] memory leaves = new bytes32[](1);
        leaves[0] = Merkle.leaf(address(hostile), 400);
        commit(first, leaves, T1, 400);
        hostile.callBack(address(first), abi.encodeCall(first.claim, (400, T1, new bytes32[](0))), false);
        vm.expectRevert(abi.encodeWithSelector(IStreamFactory.AmountNotReceived.selector, 500, 100));
        this.addFundsInACall(first, 500);
    }

    function claimInACall(IStream from, address user, uint256 amount, uint40 timestamp, bytes32[] memory proof)
        external
    {
        claimAs(from, user, amount, timestamp, proof);
    }

    function commitInACall(IStream to, bytes32[] memory leaves, uint40 timestamp, uint256 total) external {
        commit(to, leaves, timestamp, total);
    }

    function addFundsInACall(IStream to, uint256 net) external {
        addFunds(to, net, 0, SALT);
    }
}
