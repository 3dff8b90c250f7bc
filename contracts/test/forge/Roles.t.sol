// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {IStream} from "../../src/streams/IStream.sol";
import {IStreamFactory} from "../../src/streams/IStreamFactory.sol";
import {StreamFactory} from "../../src/streams/StreamFactory.sol";
import {StreamTest} from "./StreamTest.sol";
import {vm} from "./Vm.sol";

contract RolesTest is StreamTest {
    function test_constructor_handsOutTheRolesInOrder() external view {
        vm.assertEq(factory.owner(), OWNER);
        vm.assertEq(factory.getRole(IStreamFactory.Role.CreateVerifier), vm.addr(CREATE_KEY));
        vm.assertEq(factory.getRole(IStreamFactory.Role.WithdrawVerifier), vm.addr(WITHDRAW_KEY));
        vm.assertEq(factory.getRole(IStreamFactory.Role.Committer), COMMITTER);
        vm.assertEq(factory.getRole(IStreamFactory.Role.FeeCollector), COLLECTOR);
        vm.assertEq(factory.getRole(IStreamFactory.Role.Pauser), PAUSER);
    }

    function test_constructor_reverts_OwnableInvalidOwner() external {
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableInvalidOwner.selector, address(0)));
        new StreamFactory(address(0), [ALICE, ALICE, ALICE, ALICE, ALICE]);
    }

    function test_constructor_reverts_ZeroAddress() external {
        vm.expectRevert(IStreamFactory.ZeroAddress.selector);
        new StreamFactory(OWNER, [ALICE, ALICE, ALICE, ALICE, address(0)]);
    }

    function test_setRole_replacesTheHolderAndSaysSo() external {
        vm.expectEmit(address(factory));
        emit IStreamFactory.RoleSet(IStreamFactory.Role.FeeCollector, COLLECTOR, ALICE);
        vm.prank(OWNER);
        factory.setRole(IStreamFactory.Role.FeeCollector, ALICE);
        vm.assertEq(factory.getRole(IStreamFactory.Role.FeeCollector), ALICE);
    }

    function test_setRole_reverts_OwnableUnauthorizedAccount() external {
        expectNotOwner(PAUSER);
        factory.setRole(IStreamFactory.Role.Pauser, ALICE);
    }

    function test_setRole_reverts_ZeroAddress() external {
        vm.expectRevert(IStreamFactory.ZeroAddress.selector);
        vm.prank(OWNER);
        factory.setRole(IStreamFactory.Role.Committer, address(0));
    }

    function test_setClaimOperator_isPerUserAndSaysSo() external {
        vm.expectEmit(address(factory));
        emit IStreamFactory.ClaimOperatorSet(ALICE, BOB, true);
        vm.prank(ALICE);
        factory.setClaimOperator(BOB, true);
        vm.assertTrue(factory.isClaimOperator(ALICE, BOB));
        vm.assertFalse(factory.isClaimOperator(BOB, ALICE));
        vm.assertFalse(factory.isClaimOperator(CAROL, BOB));
        vm.prank(ALICE);
        factory.setClaimOperator(BOB, false);
        vm.assertFalse(factory.isClaimOperator(ALICE, BOB));
    }

    function test_setClaimsPaused_stopsTheClaimsOfOneStreamAndNothingElse() external {
        IStream stream = createStream(address(token), 1000);
        IStream other = createStream(bytes16(uint128(1)), address(token), 1000);
        vm.expectEmit(address(stream));
        emit IStream.ClaimsPausedSet(true);
        vm.prank(PAUSER);
        factory.setClaimsPaused(address(stream), true);
        vm.assertTrue(stream.areClaimsPaused());
        vm.assertFalse(other.areClaimsPaused());
        commit(stream, leavesOf(1, 2, 3), uint40(NOW), 6);
        addFunds(stream, 1, 0, SALT);
        withdrawFunds(stream, ADMIN, 1, keccak256("out"));
        vm.prank(OWNER);
        factory.setClaimsPaused(address(stream), false);
        vm.assertFalse(stream.areClaimsPaused());
    }

    function test_setClaimsPaused_reverts_NotPauser() external {
        IStream stream = createStream(address(token), 1000);
        vm.expectRevert(abi.encodeWithSelector(IStreamFactory.NotPauser.selector, ADMIN));
        vm.prank(ADMIN);
        factory.setClaimsPaused(address(stream), true);
    }

    function test_setClaimsPaused_reverts_UnknownStream() external {
        vm.expectRevert(abi.encodeWithSelector(IStreamFactory.UnknownStream.selector, ALICE));
        vm.prank(PAUSER);
        factory.setClaimsPaused(ALICE, true);
    }

    function test_pause_isForPauserAndOwnerAndOnlyTheOwnerEndsIt() external {
        vm.prank(PAUSER);
        factory.pause();
        vm.assertTrue(factory.paused());
        vm.prank(OWNER);
        factory.unpause();
        vm.assertFalse(factory.paused());
        vm.prank(OWNER);
        factory.pause();
        vm.assertTrue(factory.paused());
    }

    function test_pause_reverts_NotPauser() external {
        vm.expectRevert(abi.encodeWithSelector(IStreamFactory.NotPauser.selector, COMMITTER));
        vm.prank(COMMITTER);
        factory.pause();
    }

    function test_pause_reverts_EnforcedPause() external {
        vm.prank(PAUSER);
        factory.pause();
        vm.expectRevert(Pausable.EnforcedPause.selector);
        vm.prank(PAUSER);
        factory.pause();
    }

    function test_unpause_reverts_OwnableUnauthorizedAccount() external {
        vm.prank(PAUSER);
        factory.pause();
        expectNotOwner(PAUSER);
        factory.unpause();
    }

    function test_unpause_reverts_ExpectedPause() external {
        vm.expectRevert(Pausable.ExpectedPause.selector);
        vm.prank(OWNER);
        factory.unpause();
    }

    function test_transferOwnership_takesTwoSteps() external {
        vm.prank(OWNER);
        factory.transferOwnership(ALICE);
        vm.assertEq(factory.owner(), OWNER);
        vm.assertEq(factory.pendingOwner(), ALICE);
        vm.prank(ALICE);
        factory.acceptOwnership();
        vm.assertEq(factory.owner(), ALICE);
    }

    function test_transferOwnership_reverts_OwnableUnauthorizedAccount() external {
        expectNotOwner(ALICE);
        factory.transferOwnership(ALICE);
    }

    function test_acceptOwnership_reverts_OwnableUnauthorizedAccount() external {
        vm.prank(OWNER);
        factory.transferOwnership(ALICE);
        expectNotOwner(BOB);
        factory.acceptOwnership();
    }

    function test_renounceOwnership_reverts_OwnableUnauthorizedAccount() external {
        expectNotOwner(ALICE);
        factory.renounceOwnership();
    }

    function test_renounceOwnership_reverts_OwnershipNotRenounceable() external {
        vm.expectRevert(IStreamFactory.OwnershipNotRenounceable.selector);
        vm.prank(OWNER);
        factory.renounceOwnership();
    }

    function expectNotOwner(address caller) private {
        vm.expectRevert(abi.encodeWithSelector(Ownable.OwnableUnauthorizedAccount.selector, caller));
        vm.prank(caller);
    }
}
