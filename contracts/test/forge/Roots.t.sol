// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IStream} from "../../src/streams/IStream.sol";
import {IStreamFactory} from "../../src/streams/IStreamFactory.sol";
import {Stream} from "../../src/streams/Stream.sol";
import {Merkle} from "./Merkle.sol";
import {StreamTest} from "./StreamTest.sol";
import {HostileToken} from "./tokens/HostileToken.sol";
import {RebasingToken} from "./tokens/RebasingToken.sol";
import {vm} from "./Vm.sol";

contract RootsTest is StreamTest {
    bytes32 private constant ROOT = keccak256("root");
    IStream private stream;

    function setUp() public override {
        super.setUp();
        stream = createStream(address(token), 1000);
    }

    function update(bytes32 root, uint256 timestamp, uint256 totalAllocated) private {
        vm.prank(COMMITTER);
        stream.updateRoot(root, uint40(timestamp), totalAllocated);
    }

    function expectRefusal(bytes memory reason, bytes32 root, uint256 timestamp, uint256 totalAllocated) private {
        vm.expectRevert(reason);
        update(root, timestamp, totalAllocated);
    }

    function test_updateRoot_keepsTheCurrentAndThePreviousRoot() external {
        vm.expectEmit(address(stream));
        emit IStream.RootUpdated(ROOT, uint40(NOW - 2), 600);
        update(ROOT, NOW - 2, 600);
        update(keccak256("2"), NOW - 1, 600);
        update(keccak256("3"), NOW, 1000);
        (IStream.Root memory current, IStream.Root memory previous) = stream.getRoots();
        vm.assertEq(current.root, keccak256("3"));
        vm.assertEq(current.timestamp, NOW);
        vm.assertEq(previous.root, keccak256("2"));
        vm.assertEq(previous.timestamp, NOW - 1);
        vm.assertEq(stream.getTotalAllocated(), 1000);
    }

    function test_updateRoot_followsTheCommitterInOffice() external {
        vm.prank(OWNER);
        factory.setRole(IStreamFactory.Role.Committer, BOB);
        expectRefusal(abi.encodeWithSelector(IStream.NotCommitter.selector, COMMITTER), ROOT, NOW, 1);
        vm.prank(BOB);
        stream.updateRoot(ROOT, uint40(NOW), 1);
    }

    function test_updateRoot_reverts_NotCommitter() external {
        vm.expectRevert(abi.encodeWithSelector(IStream.NotCommitter.selector, ADMIN));
        vm.prank(ADMIN);
        stream.updateRoot(ROOT, uint40(NOW), 1);
    }

    function test_updateRoot_reverts_FactoryIsPaused() external {
        vm.prank(PAUSER);
        factory.pause();
        expectRefusal(abi.encodeWithSelector(IStream.FactoryIsPaused.selector), ROOT, NOW, 1);
    }

    function test_updateRoot_reverts_ZeroRoot() external {
        expectRefusal(abi.encodeWithSelector(IStream.ZeroRoot.selector), bytes32(0), NOW, 1);
    }

    function test_updateRoot_reverts_TimestampNotIncreasing() external {
        expectRefusal(abi.encodeWithSelector(IStream.TimestampNotIncreasing.selector, 0, 0), ROOT, 0, 1);
        update(ROOT, NOW - 1, 600);
        bytes memory reason = abi.encodeWithSelector(IStream.TimestampNotIncreasing.selector, NOW - 1, NOW - 1);
        expectRefusal(reason, ROOT, NOW - 1, 600);
        reason = abi.encodeWithSelector(IStream.TimestampNotIncreasing.selector, NOW - 1, NOW - 2);
        expectRefusal(reason, ROOT, NOW - 2, 600);
    }

    function test_updateRoot_reverts_TimestampInFuture() external {
        bytes memory reason = abi.encodeWithSelector(IStream.TimestampInFuture.selector, NOW + 1);
        expectRefusal(reason, ROOT, NOW + 1, 1);
        reason = abi.encodeWithSelector(IStream.TimestampInFuture.selector, type(uint40).max);
        expectRefusal(reason, ROOT, type(uint40).max, 1);
    }

    function test_updateRoot_reverts_AllocationDecreasing() external {
        update(ROOT, NOW - 1, 600);
        expectRefusal(abi.encodeWithSelector(IStream.AllocationDecreasing.selector, 600, 599), ROOT, NOW, 599);
    }

    function test_updateRoot_reverts_AllocationAboveFunded() external {
        bytes memory reason = abi.encodeWithSelector(IStream.AllocationAboveFunded.selector, 1000, 1001);
        expectRefusal(reason, ROOT, NOW, 1001);
        token.mint(address(stream), 5);
        expectRefusal(reason, ROOT, NOW, 1001);
        reason = abi.encodeWithSelector(IStream.AllocationAboveFunded.selector, 1000, type(uint256).max);
        expectRefusal(reason, ROOT, NOW, type(uint256).max);
    }

    function test_updateRoot_reverts_AllocationAboveBalance() external {
        withdrawFunds(stream, ADMIN, 600, SALT);
        expectRefusal(abi.encodeWithSelector(IStream.AllocationAboveBalance.selector, 400, 401), ROOT, NOW, 401);
        update(ROOT, NOW - 1, 400);
        addFunds(stream, 100, 0, keccak256("more"));
        update(ROOT, NOW, 500);
    }

    function test_updateRoot_reverts_AllocationAboveBalance_afterANegativeRebase() external {
        RebasingToken rebasing = new RebasingToken();
        rebasing.mint(ADMIN, 1000);
        allow(address(rebasing), ADMIN);
        stream = createStream(bytes16(uint128(1)), address(rebasing), 1000);
        rebasing.rebase(0.9e18);
        expectRefusal(abi.encodeWithSelector(IStream.AllocationAboveBalance.selector, 900, 1000), ROOT, NOW, 1000);
    }
}

contract StreamDoorsTest is StreamTest {
    IStream private stream;

    function setUp() public override {
        super.setUp();
        stream = createStream(address(token), 1000);
    }

    function test_initialize_reverts_NotFactory() external {
        expectStranger();
        stream.initialize(ID, address(token), ALICE);
    }

    function test_initialize_reverts_AlreadyInitialized() external {
        vm.expectRevert(IStream.AlreadyInitialized.selector);
        vm.prank(address(factory));
        stream.initialize(ID, address(token), ALICE);
    }

    function test_recordFunds_reverts_NotFactory() external {
        expectStranger();
        stream.recordFunds(1);
    }

    function test_recordFunds_reverts_Panic() external {
        vm.expectRevert(abi.encodeWithSignature("Panic(uint256)", 0x11));
        vm.prank(address(factory));
        stream.recordFunds(type(uint256).max);
    }

    function test_withdraw_reverts_NotFactory() external {
        expectStranger();
        stream.withdraw(ALICE, 1);
    }

    function test_withdraw_reverts_ZeroAmount() external {
        expectWithdrawalRefused(abi.encodeWithSelector(IStream.ZeroAmount.selector), ALICE, 0);
    }

    function test_withdraw_reverts_InvalidReceiver() external {
        bytes memory reason = abi.encodeWithSelector(IStream.InvalidReceiver.selector, address(0));
        expectWithdrawalRefused(reason, address(0), 1);
        reason = abi.encodeWithSelector(IStream.InvalidReceiver.selector, address(stream));
        expectWithdrawalRefused(reason, address(stream), 1);
    }

    function test_withdraw_reverts_AmountAboveWithdrawable() external {
        commit(stream, leavesOf(1, 2, 3), uint40(NOW), 6);
        bytes memory reason = abi.encodeWithSelector(IStream.AmountAboveWithdrawable.selector, 994, 995);
        expectWithdrawalRefused(reason, ALICE, 995);
    }

    function test_withdraw_reverts_TokenTookMore() external {
        hostileStream().takeMore(1);
        expectWithdrawalRefused(abi.encodeWithSelector(IStream.TokenTookMore.selector, 10, 11), ALICE, 10);
    }

    function test_withdraw_reverts_SafeERC20FailedOperation() external {
        HostileToken hostile = hostileStream();
        hostile.returnFalse();
        bytes memory reason = abi.encodeWithSelector(SafeERC20.SafeERC20FailedOperation.selector, address(hostile));
        expectWithdrawalRefused(reason, ALICE, 10);
    }

    function test_setClaimsPaused_reverts_NotFactory() external {
        expectStranger();
        stream.setClaimsPaused(true);
    }

    function test_theCodeBehindTheStreamsIsInert() external {
        IStream code = IStream(factory.getStreamImplementation());
        vm.assertFalse(factory.isStream(address(code)));
        vm.expectRevert(abi.encodeWithSelector(IStream.NotFactory.selector, address(this)));
        code.initialize(ID, address(token), ALICE);
        bytes32[] memory leaves = leavesOf(1, 2, 3);
        vm.prank(COMMITTER);
        vm.expectRevert(abi.encodeWithSelector(IStream.AllocationAboveFunded.selector, 0, 6));
        code.updateRoot(Merkle.root(leaves), uint40(NOW), 6);
        vm.prank(COMMITTER);
        vm.expectRevert();
        code.updateRoot(Merkle.root(leaves), uint40(NOW), 0);
        vm.assertFalse(code.canClaim(ALICE, 1, uint40(NOW), Merkle.proof(leaves, 0)));
        vm.expectRevert(abi.encodeWithSelector(IStream.UnknownRoot.selector, NOW));
        code.claim(1, uint40(NOW), Merkle.proof(leaves, 0));
    }

    function test_aStreamOfAStrangersCodeIsNotOurs() external {
        Stream lookalike = new Stream();
        lookalike.initialize(ID, address(token), ADMIN);
        vm.assertFalse(factory.isStream(address(lookalike)));
    }

    function test_withdraw_reverts_ReentrancyGuardReentrantCall_whenAnAdminTokenCallsBackFromAClaim() external {
        HostileToken hostile = new HostileToken();
        hostile.mint(address(hostile), 1000);
        bytes memory approve = abi.encodeCall(hostile.approve, (address(factory), 1000));
        hostile.execute(address(hostile), approve);
        IStreamFactory.CreateStreamParams memory params =
            IStreamFactory.CreateStreamParams(bytes16(uint128(1)), address(hostile), 1000, 0);
        bytes memory signature = signCreate(address(hostile), params);
        hostile.execute(address(factory), abi.encodeCall(factory.createStream, (params, DEADLINE, signature)));
        stream = IStream(factory.getStreamAddress(bytes16(uint128(1))));
        bytes32[] memory leaves = leavesOf(100, 200, 300);
        commit(stream, leaves, uint40(NOW), 600);

        IStreamFactory.WithdrawFundsParams memory out =
            IStreamFactory.WithdrawFundsParams(address(stream), ADMIN, 500);
        signature = signWithdraw(address(hostile), out, SALT);
        bytes memory withdrawal = abi.encodeCall(factory.withdrawFunds, (out, SALT, DEADLINE, signature));
        hostile.callBack(address(factory), withdrawal, true);
        claimAs(stream, ALICE, 100, uint40(NOW), Merkle.proof(leaves, 0));
        (bool succeeded, bytes memory answer) = hostile.lastCallBack();
        vm.assertFalse(succeeded);
        bytes32 guard = bytes32(bytes4(keccak256("ReentrancyGuardReentrantCall()")));
        vm.assertEq(bytes32(answer), guard);
        vm.assertFalse(factory.isSaltUsed(SALT));
    }

    function hostileStream() private returns (HostileToken hostile) {
        hostile = new HostileToken();
        hostile.mint(ADMIN, 1000);
        allow(address(hostile), ADMIN);
        stream = createStream(bytes16(uint128(1)), address(hostile), 1000);
    }

    function expectWithdrawalRefused(bytes memory reason, address to, uint256 amount) private {
        vm.expectRevert(reason);
        vm.prank(address(factory));
        stream.withdraw(to, amount);
    }

    function expectStranger() private {
        vm.expectRevert(abi.encodeWithSelector(IStream.NotFactory.selector, ADMIN));
        vm.prank(ADMIN);
    }
}
