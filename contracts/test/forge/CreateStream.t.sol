// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {FeeOnTransferToken} from "../../src/devnet/FeeOnTransferToken.sol";
import {NoReturnToken} from "../../src/devnet/NoReturnToken.sol";
import {IStream} from "../../src/streams/IStream.sol";
import {IStreamFactory} from "../../src/streams/IStreamFactory.sol";
import {StreamFactory} from "../../src/streams/StreamFactory.sol";
import {StreamTest} from "./StreamTest.sol";
import {HostileToken} from "./tokens/HostileToken.sol";
import {RebasingToken} from "./tokens/RebasingToken.sol";
import {vm} from "./Vm.sol";

contract CreateStreamTest is StreamTest {
    function test_createStream_pullsBudgetAndFeeAndSaysSo() external {
        IStreamFactory.CreateStreamParams memory params = createParams(address(token), 1000, 15);
        bytes memory signature = signCreate(ADMIN, params);
        address expected = factory.getStreamAddress(ID);
        vm.assertFalse(factory.isStream(expected));
        vm.expectEmit(address(factory));
        emit IStreamFactory.StreamCreated(ID, expected, ADMIN, address(token), 1000, 15);
        vm.expectEmit(expected);
        emit IStream.Funded(1000);
        vm.prank(ADMIN);
        IStream stream = IStream(factory.createStream(params, DEADLINE, signature));

        vm.assertEq(address(stream), expected);
        vm.assertTrue(factory.isStream(expected));
        vm.assertEq(token.balanceOf(expected), 1000);
        vm.assertEq(token.balanceOf(COLLECTOR), 15);
        vm.assertEq(token.balanceOf(ADMIN), 1_000_000 - 1015);
        vm.assertEq(stream.getAdmin(), ADMIN);
        vm.assertEq(stream.getRewardToken(), address(token));
        vm.assertEq(stream.getStreamId(), ID);
        vm.assertEq(stream.getFactory(), address(factory));
        vm.assertEq(stream.getTotalFunded(), 1000);
        vm.assertEq(stream.getTotalAllocated(), 0);
        vm.assertEq(stream.getTotalClaimed(), 0);
        vm.assertEq(stream.getWithdrawable(), 1000);
        vm.assertFalse(stream.areClaimsPaused());
    }

    function test_createStream_isGoodUntilTheDeadlineItself() external {
        IStreamFactory.CreateStreamParams memory params = createParams(address(token), 1, 0);
        bytes memory signature = signCreate(ADMIN, params);
        vm.warp(DEADLINE);
        vm.prank(ADMIN);
        factory.createStream(params, DEADLINE, signature);
    }

    function test_createStream_takesATokenThatReturnsNothing() external {
        NoReturnToken old = new NoReturnToken("Old", "OLD", 6);
        old.mint(ADMIN, 1015);
        allow(address(old), ADMIN);
        IStreamFactory.CreateStreamParams memory params = createParams(address(old), 1000, 15);
        bytes memory signature = signCreate(ADMIN, params);
        vm.prank(ADMIN);
        IStream stream = IStream(factory.createStream(params, DEADLINE, signature));
        vm.assertEq(old.balanceOf(address(stream)), 1000);
        vm.assertEq(old.balanceOf(COLLECTOR), 15);
    }

    function test_createStream_withoutAFeeSendsNothingToTheCollector() external {
        vm.expectCall(address(token), abi.encodeCall(token.transferFrom, (ADMIN, COLLECTOR, 0)), 0);
        createStream(address(token), 1000);
    }

    function test_createStream_isNotHinderedByTokensSentToItsAddressBefore() external {
        token.mint(factory.getStreamAddress(ID), 7);
        IStream stream = createStream(address(token), 1000);
        vm.assertEq(stream.getTotalFunded(), 1000);
        vm.assertEq(stream.getWithdrawable(), 1007);
    }

    function test_createStream_reverts_EnforcedPause() external {
        vm.prank(PAUSER);
        factory.pause();
        expectRefusal(abi.encodeWithSelector(Pausable.EnforcedPause.selector), createParams(address(token), 1, 0));
    }

    function test_createStream_reverts_DeadlineExpired() external {
        IStreamFactory.CreateStreamParams memory params = createParams(address(token), 1, 0);
        vm.warp(DEADLINE + 1);
        expectRefusal(abi.encodeWithSelector(IStreamFactory.DeadlineExpired.selector, DEADLINE), params);
    }

    function test_createStream_reverts_StreamAlreadyExists() external {
        createStream(address(token), 1);
        expectRefusal(
            abi.encodeWithSelector(IStreamFactory.StreamAlreadyExists.selector, ID), createParams(address(token), 1, 0)
        );
    }

    function test_createStream_reverts_NotAToken() external {
        expectRefusal(
            abi.encodeWithSelector(IStreamFactory.NotAToken.selector, ALICE), createParams(ALICE, 1, 0)
        );
        expectRefusal(
            abi.encodeWithSelector(IStreamFactory.NotAToken.selector, address(0)), createParams(address(0), 1, 0)
        );
    }

    function test_createStream_reverts_ZeroAmount() external {
        expectRefusal(abi.encodeWithSelector(IStreamFactory.ZeroAmount.selector), createParams(address(token), 0, 1));
    }

    function test_createStream_reverts_AmountNotReceived() external {
        FeeOnTransferToken taxed = new FeeOnTransferToken("Taxed", "TAX", 18, 100);
        taxed.mint(ADMIN, 2000);
        allow(address(taxed), ADMIN);
        expectRefusal(
            abi.encodeWithSelector(IStreamFactory.AmountNotReceived.selector, 1000, 990),
            createParams(address(taxed), 1000, 0)
        );

        RebasingToken rebasing = new RebasingToken();
        rebasing.mint(ADMIN, 2000);
        rebasing.rebase(1.1e18);
        allow(address(rebasing), ADMIN);
        expectRefusal(
            abi.encodeWithSelector(IStreamFactory.AmountNotReceived.selector, 1000, 999),
            createParams(address(rebasing), 1000, 0)
        );
    }

    function test_createStream_reverts_SafeERC20FailedOperation() external {
        HostileToken hostile = new HostileToken();
        hostile.returnFalse();
        expectRefusal(
            abi.encodeWithSelector(SafeERC20.SafeERC20FailedOperation.selector, address(hostile)),
            createParams(address(hostile), 1000, 0)
        );
    }

    function test_createStream_reverts_ReentrancyGuardReentrantCall() external {
        HostileToken hostile = new HostileToken();
        hostile.mint(ADMIN, 1000);
        allow(address(hostile), ADMIN);
        IStreamFactory.CreateStreamParams memory params = createParams(address(hostile), 1000, 0);
        bytes memory again = abi.encodeCall(factory.createStream, (params, DEADLINE, ""));
        hostile.callBack(address(factory), again, false);
        expectRefusal(
            abi.encodeWithSelector(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector), params
        );
    }

    function test_createStream_reverts_InvalidSignature() external {
        IStreamFactory.CreateStreamParams memory params = createParams(address(token), 1000, 15);
        bytes memory good = signCreate(ADMIN, params);
        bytes32 digest = factory.getCreateStreamDigest(ADMIN, params, DEADLINE);

        expectInvalid(params, sign(STRANGER_KEY, digest));
        expectInvalid(params, sign(WITHDRAW_KEY, digest));
        expectInvalid(params, signCreate(OTHER_ADMIN, params));
        expectInvalid(params, "");
        expectInvalid(params, bytes.concat(good, hex"00"));
        expectInvalid(params, new bytes(65));
        expectInvalid(params, sign(CREATE_KEY, factory.getCreateStreamDigest(ADMIN, params, DEADLINE + 1)));

        IStreamFactory.CreateStreamParams memory other = createParams(address(token), 1000, 14);
        expectInvalid(other, good);
        other = createParams(address(token), 1001, 15);
        expectInvalid(other, good);
        other = createParams(address(new HostileToken()), 1000, 15);
        expectInvalid(other, good);
        other = IStreamFactory.CreateStreamParams(bytes16(uint128(ID) ^ 1), address(token), 1000, 15);
        expectInvalid(other, good);
    }

    function test_createStream_reverts_InvalidSignature_ofTheHighTwin() external {
        IStreamFactory.CreateStreamParams memory params = createParams(address(token), 1000, 15);
        (uint8 v, bytes32 r, bytes32 s) =
            vm.sign(CREATE_KEY, factory.getCreateStreamDigest(ADMIN, params, DEADLINE));
        uint256 order = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;
        expectInvalid(params, abi.encodePacked(r, bytes32(order - uint256(s)), v == 27 ? uint8(28) : uint8(27)));
    }

    function test_createStream_reverts_InvalidSignature_ofAnotherFactoryOrChain() external {
        IStreamFactory.CreateStreamParams memory params = createParams(address(token), 1000, 15);
        StreamFactory other = deployFactory();
        expectInvalid(params, sign(CREATE_KEY, other.getCreateStreamDigest(ADMIN, params, DEADLINE)));
        bytes memory here = signCreate(ADMIN, params);
        vm.chainId(4242);
        expectInvalid(params, here);
    }

    function test_createStream_reverts_InvalidSignature_ofAReplacedVerifier() external {
        IStreamFactory.CreateStreamParams memory params = createParams(address(token), 1000, 15);
        bytes memory signature = signCreate(ADMIN, params);
        vm.prank(OWNER);
        factory.setRole(IStreamFactory.Role.CreateVerifier, vm.addr(STRANGER_KEY));
        expectInvalid(params, signature);
        bytes memory fresh = sign(STRANGER_KEY, factory.getCreateStreamDigest(ADMIN, params, DEADLINE));
        vm.prank(ADMIN);
        factory.createStream(params, DEADLINE, fresh);
    }

    function test_createStream_reverts_InvalidSignature_forAFrontRunner() external {
        IStreamFactory.CreateStreamParams memory params = createParams(address(token), 1000, 15);
        bytes memory signature = signCreate(ADMIN, params);
        vm.expectRevert(IStreamFactory.InvalidSignature.selector);
        vm.prank(OTHER_ADMIN);
        factory.createStream(params, DEADLINE, signature);
    }

    function expectInvalid(IStreamFactory.CreateStreamParams memory params, bytes memory signature) private {
        vm.expectRevert(IStreamFactory.InvalidSignature.selector);
        vm.prank(ADMIN);
        factory.createStream(params, DEADLINE, signature);
    }

    /// @dev Rightly signed, and refused all the same.
    function expectRefusal(bytes memory reason, IStreamFactory.CreateStreamParams memory params) private {
        bytes memory signature = signCreate(ADMIN, params);
        vm.expectRevert(reason);
        vm.prank(ADMIN);
        factory.createStream(params, DEADLINE, signature);
    }
}
