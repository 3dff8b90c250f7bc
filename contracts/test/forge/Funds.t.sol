// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {IStream} from "../../src/streams/IStream.sol";
import {IStreamFactory} from "../../src/streams/IStreamFactory.sol";
import {StreamFactory} from "../../src/streams/StreamFactory.sol";
import {StreamTest} from "./StreamTest.sol";
import {HostileToken} from "./tokens/HostileToken.sol";
import {vm} from "./Vm.sol";

contract AddFundsTest is StreamTest {
    IStream private stream;

    function setUp() public override {
        super.setUp();
        stream = createStream(address(token), 1000);
    }

    function test_addFunds_pullsBudgetAndFeeAndSaysSo() external {
        vm.assertFalse(factory.isSaltUsed(SALT));
        vm.expectEmit(address(factory));
        emit IStreamFactory.FundsAdded(ID, address(stream), SALT, ADMIN, 500, 8);
        vm.expectEmit(address(stream));
        emit IStream.Funded(500);
        addFunds(stream, 500, 8, SALT);
        vm.assertTrue(factory.isSaltUsed(SALT));
        vm.assertEq(stream.getTotalFunded(), 1500);
        vm.assertEq(token.balanceOf(address(stream)), 1500);
        vm.assertEq(token.balanceOf(COLLECTOR), 8);
        vm.assertEq(token.balanceOf(ADMIN), 1_000_000 - 1508);
    }

    function test_addFunds_reverts_EnforcedPause() external {
        vm.prank(OWNER);
        factory.pause();
        expectRefusal(abi.encodeWithSelector(Pausable.EnforcedPause.selector), ADMIN, address(stream), 1);
    }

    function test_addFunds_reverts_DeadlineExpired() external {
        vm.warp(DEADLINE + 1);
        expectRefusal(
            abi.encodeWithSelector(IStreamFactory.DeadlineExpired.selector, DEADLINE), ADMIN, address(stream), 1
        );
    }

    function test_addFunds_reverts_UnknownStream() external {
        StreamFactory other = deployFactory();
        address foreign = other.getStreamAddress(ID);
        expectRefusal(abi.encodeWithSelector(IStreamFactory.UnknownStream.selector, foreign), ADMIN, foreign, 1);
    }

    function test_addFunds_reverts_NotStreamAdmin() external {
        expectRefusal(
            abi.encodeWithSelector(IStreamFactory.NotStreamAdmin.selector, OTHER_ADMIN),
            OTHER_ADMIN,
            address(stream),
            1
        );
    }

    function test_addFunds_reverts_SaltAlreadyUsed() external {
        addFunds(stream, 1, 0, SALT);
        bytes memory reason = abi.encodeWithSelector(IStreamFactory.SaltAlreadyUsed.selector, SALT);
        expectRefusal(reason, ADMIN, address(stream), 1);
        withdrawFunds(stream, ADMIN, 1, keccak256("another"));
        reason = abi.encodeWithSelector(IStreamFactory.SaltAlreadyUsed.selector, keccak256("another"));
        vm.expectRevert(reason);
        this.addFundsOf(stream, keccak256("another"));
    }

    function test_addFunds_reverts_ZeroAmount() external {
        expectRefusal(abi.encodeWithSelector(IStreamFactory.ZeroAmount.selector), ADMIN, address(stream), 0);
    }

    function test_addFunds_reverts_AmountNotReceived() external {
        HostileToken hostile = new HostileToken();
        hostile.mint(ADMIN, 1000);
        allow(address(hostile), ADMIN);
        IStream risky = createStream(bytes16(uint128(1)), address(hostile), 500);
        bytes memory steal = abi.encodeCall(hostile.fakeBalance, (address(risky), type(uint256).max));
        hostile.callBack(address(hostile), steal, false);
        expectRefusal(
            abi.encodeWithSelector(IStreamFactory.AmountNotReceived.selector, 100, 99), ADMIN, address(risky), 100
        );
    }

    function test_addFunds_reverts_AmountNotReceived_whenMoreArrives() external {
        HostileToken hostile = new HostileToken();
        hostile.mint(ADMIN, 1000);
        allow(address(hostile), ADMIN);
        IStream risky = createStream(bytes16(uint128(1)), address(hostile), 500);
        hostile.callBack(address(hostile), abi.encodeCall(hostile.fakeBalance, (address(risky), 1)), false);
        expectRefusal(
            abi.encodeWithSelector(IStreamFactory.AmountNotReceived.selector, 100, 101), ADMIN, address(risky), 100
        );
    }

    function test_addFunds_reverts_SafeERC20FailedOperation() external {
        HostileToken hostile = new HostileToken();
        hostile.mint(ADMIN, 1000);
        allow(address(hostile), ADMIN);
        IStream risky = createStream(bytes16(uint128(1)), address(hostile), 500);
        hostile.returnFalse();
        expectRefusal(
            abi.encodeWithSelector(SafeERC20.SafeERC20FailedOperation.selector, address(hostile)),
            ADMIN,
            address(risky),
            100
        );
    }

    function test_addFunds_reverts_ReentrancyGuardReentrantCall() external {
        HostileToken hostile = new HostileToken();
        hostile.mint(ADMIN, 1000);
        allow(address(hostile), ADMIN);
        IStream risky = createStream(bytes16(uint128(1)), address(hostile), 500);
        IStreamFactory.AddFundsParams memory params = IStreamFactory.AddFundsParams(address(risky), 1, 0);
        hostile.callBack(address(factory), abi.encodeCall(factory.addFunds, (params, SALT, DEADLINE, "")), false);
        expectRefusal(
            abi.encodeWithSelector(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector),
            ADMIN,
            address(risky),
            100
        );
    }

    function test_addFunds_reverts_Panic_whenTheSumOverflows() external {
        expectRefusal(
            abi.encodeWithSignature("Panic(uint256)", 0x11), ADMIN, address(stream), type(uint256).max
        );
    }

    function test_addFunds_reverts_InvalidSignature() external {
        IStreamFactory.AddFundsParams memory params = IStreamFactory.AddFundsParams(address(stream), 500, 8);
        bytes memory good = signAdd(ADMIN, params, SALT);
        bytes32 digest = factory.getAddFundsDigest(ADMIN, params, SALT, DEADLINE);
        expectInvalid(params, SALT, sign(STRANGER_KEY, digest));
        expectInvalid(params, SALT, sign(WITHDRAW_KEY, digest));
        expectInvalid(params, SALT, signAdd(OTHER_ADMIN, params, SALT));
        expectInvalid(params, SALT, bytes.concat(good, hex"1b"));
        expectInvalid(params, keccak256("another"), good);
        expectInvalid(IStreamFactory.AddFundsParams(address(stream), 501, 8), SALT, good);
        expectInvalid(IStreamFactory.AddFundsParams(address(stream), 500, 0), SALT, good);
        expectInvalid(IStreamFactory.AddFundsParams(ALICE, 500, 8), SALT, good);
        bytes32 later = factory.getAddFundsDigest(ADMIN, params, SALT, DEADLINE + 1);
        expectInvalid(params, SALT, sign(CREATE_KEY, later));
        bytes32 elsewhere = deployFactory().getAddFundsDigest(ADMIN, params, SALT, DEADLINE);
        expectInvalid(params, SALT, sign(CREATE_KEY, elsewhere));
    }

    /// @dev As a call of its own, so that its revert can be expected.
    function addFundsOf(IStream stream_, bytes32 salt) external {
        addFunds(stream_, 1, 0, salt);
    }

    function expectInvalid(IStreamFactory.AddFundsParams memory params, bytes32 salt, bytes memory signature) private {
        vm.expectRevert(IStreamFactory.InvalidSignature.selector);
        vm.prank(ADMIN);
        factory.addFunds(params, salt, DEADLINE, signature);
    }

    function expectRefusal(bytes memory reason, address sender, address to, uint256 net) private {
        IStreamFactory.AddFundsParams memory params = IStreamFactory.AddFundsParams(to, net, 0);
        bytes memory signature = signAdd(sender, params, SALT);
        vm.expectRevert(reason);
        vm.prank(sender);
        factory.addFunds(params, SALT, DEADLINE, signature);
    }
}

contract WithdrawFundsTest is StreamTest {
    IStream private stream;

    function setUp() public override {
        super.setUp();
        stream = createStream(address(token), 1000);
    }

    function test_withdrawFunds_sendsWhatIsOwedToNobodyAndSaysSo() external {
        commit(stream, leavesOf(100, 200, 300), uint40(NOW), 600);
        vm.assertEq(stream.getWithdrawable(), 400);
        vm.expectEmit(address(factory));
        emit IStreamFactory.FundsWithdrawn(ID, address(stream), SALT, ADMIN, CAROL, 400);
        vm.expectEmit(address(stream));
        emit IStream.Withdrawn(CAROL, 400);
        withdrawFunds(stream, CAROL, 400, SALT);
        vm.assertTrue(factory.isSaltUsed(SALT));
        vm.assertEq(token.balanceOf(CAROL), 400);
        vm.assertEq(stream.getWithdrawable(), 0);
        vm.assertEq(stream.getTotalFunded(), 1000);
    }

    function test_withdrawFunds_reverts_EnforcedPause() external {
        vm.prank(PAUSER);
        factory.pause();
        expectRefusal(abi.encodeWithSelector(Pausable.EnforcedPause.selector), ADMIN, ADMIN, 1);
    }

    function test_withdrawFunds_reverts_DeadlineExpired() external {
        vm.warp(DEADLINE + 1);
        expectRefusal(abi.encodeWithSelector(IStreamFactory.DeadlineExpired.selector, DEADLINE), ADMIN, ADMIN, 1);
    }

    function test_withdrawFunds_reverts_UnknownStream() external {
        stream = IStream(factory.getStreamImplementation());
        bytes memory reason = abi.encodeWithSelector(IStreamFactory.UnknownStream.selector, address(stream));
        expectRefusal(reason, ADMIN, ADMIN, 1);
    }

    function test_withdrawFunds_reverts_NotStreamAdmin() external {
        bytes memory reason = abi.encodeWithSelector(IStreamFactory.NotStreamAdmin.selector, OTHER_ADMIN);
        expectRefusal(reason, OTHER_ADMIN, OTHER_ADMIN, 1);
    }

    function test_withdrawFunds_reverts_SaltAlreadyUsed() external {
        withdrawFunds(stream, ADMIN, 1, SALT);
        expectRefusal(abi.encodeWithSelector(IStreamFactory.SaltAlreadyUsed.selector, SALT), ADMIN, ADMIN, 1);
    }

    function test_withdrawFunds_reverts_ZeroAmount() external {
        expectRefusal(abi.encodeWithSelector(IStream.ZeroAmount.selector), ADMIN, ADMIN, 0);
    }

    function test_withdrawFunds_reverts_InvalidReceiver() external {
        bytes memory reason = abi.encodeWithSelector(IStream.InvalidReceiver.selector, address(0));
        expectRefusal(reason, ADMIN, address(0), 1);
        reason = abi.encodeWithSelector(IStream.InvalidReceiver.selector, address(stream));
        expectRefusal(reason, ADMIN, address(stream), 1);
    }

    function test_withdrawFunds_reverts_AmountAboveWithdrawable() external {
        commit(stream, leavesOf(100, 200, 300), uint40(NOW), 600);
        bytes memory reason = abi.encodeWithSelector(IStream.AmountAboveWithdrawable.selector, 400, 401);
        expectRefusal(reason, ADMIN, ADMIN, 401);
        reason = abi.encodeWithSelector(IStream.AmountAboveWithdrawable.selector, 400, type(uint256).max);
        expectRefusal(reason, ADMIN, ADMIN, type(uint256).max);
    }

    function test_withdrawFunds_reverts_TokenTookMore() external {
        HostileToken hostile = hostileStream();
        hostile.takeMore(3);
        expectRefusal(abi.encodeWithSelector(IStream.TokenTookMore.selector, 10, 13), ADMIN, ADMIN, 10);
    }

    function test_withdrawFunds_reverts_SafeERC20FailedOperation() external {
        HostileToken hostile = hostileStream();
        hostile.returnFalse();
        bytes memory reason = abi.encodeWithSelector(SafeERC20.SafeERC20FailedOperation.selector, address(hostile));
        expectRefusal(reason, ADMIN, ADMIN, 10);
    }

    function test_withdrawFunds_reverts_ReentrancyGuardReentrantCall() external {
        HostileToken hostile = hostileStream();
        IStreamFactory.WithdrawFundsParams memory params =
            IStreamFactory.WithdrawFundsParams(address(stream), ADMIN, 1);
        hostile.callBack(address(factory), abi.encodeCall(factory.withdrawFunds, (params, SALT, DEADLINE, "")), false);
        bytes memory reason =
            abi.encodeWithSelector(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
        expectRefusal(reason, ADMIN, ADMIN, 10);
    }

    function test_withdrawFunds_reverts_InvalidSignature() external {
        IStreamFactory.WithdrawFundsParams memory params =
            IStreamFactory.WithdrawFundsParams(address(stream), ADMIN, 10);
        bytes memory good = signWithdraw(ADMIN, params, SALT);
        bytes32 digest = factory.getWithdrawFundsDigest(ADMIN, params, SALT, DEADLINE);
        expectInvalid(params, SALT, sign(STRANGER_KEY, digest));
        expectInvalid(params, SALT, sign(CREATE_KEY, digest));
        expectInvalid(params, SALT, signWithdraw(OTHER_ADMIN, params, SALT));
        expectInvalid(params, SALT, "");
        expectInvalid(params, keccak256("another"), good);
        expectInvalid(IStreamFactory.WithdrawFundsParams(address(stream), ADMIN, 11), SALT, good);
        expectInvalid(IStreamFactory.WithdrawFundsParams(address(stream), ALICE, 10), SALT, good);
        expectInvalid(IStreamFactory.WithdrawFundsParams(ALICE, ADMIN, 10), SALT, good);
        bytes32 later = factory.getWithdrawFundsDigest(ADMIN, params, SALT, DEADLINE + 1);
        expectInvalid(params, SALT, sign(WITHDRAW_KEY, later));
        bytes32 elsewhere = deployFactory().getWithdrawFundsDigest(ADMIN, params, SALT, DEADLINE);
        expectInvalid(params, SALT, sign(WITHDRAW_KEY, elsewhere));
        vm.prank(OWNER);
        factory.setRole(IStreamFactory.Role.WithdrawVerifier, vm.addr(STRANGER_KEY));
        expectInvalid(params, SALT, good);
    }

    function hostileStream() private returns (HostileToken hostile) {
        hostile = new HostileToken();
        hostile.mint(ADMIN, 1000);
        allow(address(hostile), ADMIN);
        stream = createStream(bytes16(uint128(1)), address(hostile), 500);
    }

    function expectInvalid(IStreamFactory.WithdrawFundsParams memory params, bytes32 salt, bytes memory signature)
        private
    {
        vm.expectRevert(IStreamFactory.InvalidSignature.selector);
        vm.prank(ADMIN);
        factory.withdrawFunds(params, salt, DEADLINE, signature);
    }

    function expectRefusal(bytes memory reason, address sender, address to, uint256 amount) private {
        IStreamFactory.WithdrawFundsParams memory params =
            IStreamFactory.WithdrawFundsParams(address(stream), to, amount);
        bytes memory signature = signWithdraw(sender, params, SALT);
        vm.expectRevert(reason);
        vm.prank(sender);
        factory.withdrawFunds(params, SALT, DEADLINE, signature);
    }
}
