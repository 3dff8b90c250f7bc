// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {Handler} from "./Handler.sol";
import {Targets} from "./Targets.sol";
import {vm} from "./Vm.sol";
import {World} from "./World.sol";

abstract contract InvariantsSetUp is Targets {
    Handler internal handler;

    function setUp() public {
        handler = new Handler();
    }

    function target() internal view override returns (address) {
        return address(handler);
    }

    function steps() internal view override returns (bytes4[] memory selectors) {
        selectors = new bytes4[](16);
        selectors[0] = handler.pass.selector;
        selectors[1] = handler.createStream.selector;
        selectors[2] = handler.addFunds.selector;
        selectors[3] = handler.withdraw.selector;
        selectors[4] = handler.commit.selector;
        selectors[5] = handler.commitGreedily.selector;
        selectors[6] = handler.donate.selector;
        selectors[7] = handler.claim.selector;
        selectors[8] = handler.rotateVerifiers.selector;
        selectors[9] = handler.forge.selector;
        selectors[10] = handler.trespass.selector;
        selectors[11] = handler.commitWrongly.selector;
        selectors[12] = handler.withdrawTooMuch.selector;
        selectors[13] = handler.claimForged.selector;
        selectors[14] = handler.reenter.selector;
        selectors[15] = handler.pause.selector;
    }
}

/// @dev The numbers are those of INVARIANTS.md. Each is fuzzed by itself, and checked after every step.
contract InvariantsTest is InvariantsSetUp {
    function invariant_01_claimsNeverExceedAllocationsNorAllocationsFunds() external view {
        handler.check01();
    }

    function invariant_02_everyStreamHoldsWhatItOwes() external view {
        handler.check02();
    }

    function invariant_03_nobodyIsPaidTwiceNorWhatWasNotCommitted() external view {
        handler.check03();
    }

    function invariant_04_fundsLeaveOnlyByClaimsAndByWithdrawalsOfWhatIsNotOwed() external view {
        handler.check04();
    }

    function invariant_05_onlyTheAdminWithAFreshSignatureOfTheRightVerifierMovesFunds() external view {
        handler.check05();
    }

    function invariant_06_rootsOnlyMoveForward() external view {
        handler.check06();
    }

    function invariant_07_feesAreTakenOnceAndFromTheAdminAlone() external view {
        handler.check07();
    }

    function invariant_08_saltsAndIdsAreUsedOnce() external view {
        handler.check08();
    }

    function invariant_09_theFactoryHoldsNothing() external view {
        handler.check09();
    }

    function invariant_10_canClaimForetellsEveryClaim() external view {
        handler.check10();
    }

    function invariant_11_aPauseStopsWhatItSays() external view {
        handler.check11();
    }
}

/// @dev All of them after every step: the long form, where each by itself would see the same steps again.
contract AllInvariantsTest is InvariantsSetUp {
    function invariant_01to11_holdTogether() external view {
        handler.check01();
        handler.check02();
        handler.check03();
        handler.check04();
        handler.check05();
        handler.check06();
        handler.check07();
        handler.check08();
        handler.check09();
        handler.check10();
        handler.check11();
    }
}

/// @dev Invariants over steps that never happen prove nothing: here each step is seen to do what it is for.
contract HandlerTest is InvariantsSetUp {
    function test_theHandlerReachesEverything() external {
        draw(1500);
        World.Tally memory tally = handler.readTally();
        vm.assertEq(tally.creations, 4);
        vm.assertLe(20, tally.additions, "additions");
        vm.assertLe(20, tally.withdrawals, "withdrawals");
        vm.assertLe(20, tally.commits, "commits");
        vm.assertLe(20, tally.greedyCommits, "greedy commits");
        vm.assertLe(20, tally.donations, "donations");
        vm.assertLe(20, tally.rotations, "rotations");
        vm.assertLe(20, tally.claims, "claims");
        vm.assertLe(3, tally.previousRootClaims, "previous root claims");
        vm.assertLe(3, tally.batchClaims, "batch claims");
        vm.assertLe(3, tally.operatorClaims, "operator claims");
        vm.assertLe(20, tally.refusedClaims, "refused claims");
        vm.assertLe(3, tally.exhaustedClaims, "exhausted claims");
        vm.assertLe(10, tally.refusedReentries, "refused reentries");
        vm.assertLe(20, tally.refusedForgeries, "refused forgeries");
        vm.assertLe(20, tally.refusedCommits, "refused commits");
        vm.assertLe(20, tally.refusedWithdrawals, "refused withdrawals");
        vm.assertLe(20, tally.refusedWhilePaused, "refused while paused");
    }
}
