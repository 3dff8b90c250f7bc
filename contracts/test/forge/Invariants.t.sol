// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IStream} from "../../src/streams/IStream.sol";
import {StreamFactory} from "../../src/streams/StreamFactory.sol";
import {Handler} from "./Handler.sol";
import {vm} from "./Vm.sol";
import {World} from "./World.sol";

/// @dev The numbers are those of INVARIANTS.md.
abstract contract InvariantsSetUp {
    uint256 internal constant USERS = 4;
    uint256 internal constant TOKENS = 3;
    Handler internal handler;
    StreamFactory internal factory;

    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    function setUp() public {
        handler = new Handler();
        factory = handler.factory();
    }

    function steps() internal view returns (bytes4[] memory selectors) {
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

contract InvariantsTest is InvariantsSetUp {
    /// @dev What forge may call: the handler's steps, and nothing else.
    function targetSelectors() external view returns (FuzzSelector[] memory targets) {
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(handler), steps());
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    function invariant_01_claimsNeverExceedAllocationsNorAllocationsFunds() external view {
        for (uint256 i = 0; i < handler.countStreams(); i++) {
            IStream stream = handler.readBook(i).stream;
            uint256 sum;
            for (uint256 user = 0; user < USERS; user++) {
                sum += stream.getClaimedRewards(handler.readUser(user));
            }
            vm.assertEq(sum, stream.getTotalClaimed());
            vm.assertLe(sum, stream.getTotalAllocated());
            vm.assertLe(stream.getTotalAllocated(), stream.getTotalFunded());
        }
    }

    function invariant_02_everyStreamHoldsWhatItOwes() external view {
        for (uint256 i = 0; i < handler.countStreams(); i++) {
            World.Book memory book = handler.readBook(i);
            uint256 owed = book.stream.getTotalAllocated() - book.stream.getTotalClaimed();
            vm.assertLe(owed, IERC20(book.token).balanceOf(address(book.stream)));
        }
    }

    function invariant_03_nobodyIsPaidTwiceNorWhatWasNotCommitted() external view {
        vm.assertEq(handler.readBreaches(3), 0);
        for (uint256 i = 0; i < handler.countStreams(); i++) {
            World.Book memory book = handler.readBook(i);
            for (uint256 user = 0; user < USERS; user++) {
                vm.assertEq(book.paidTo[user], book.stream.getClaimedRewards(handler.readUser(user)));
                vm.assertLe(book.paidTo[user], book.highest[user]);
            }
        }
    }

    function invariant_04_fundsLeaveOnlyByClaimsAndByWithdrawalsOfWhatIsNotOwed() external view {
        vm.assertEq(handler.readBreaches(4), 0);
        for (uint256 i = 0; i < handler.countStreams(); i++) {
            World.Book memory book = handler.readBook(i);
            uint256 balance = IERC20(book.token).balanceOf(address(book.stream));
            vm.assertEq(balance + book.paid + book.withdrawn, book.funded + book.donated);
            vm.assertEq(book.stream.getTotalFunded(), book.funded);
            vm.assertEq(book.stream.getTotalClaimed(), book.paid);
        }
    }

    function invariant_05_onlyTheAdminWithAFreshSignatureOfTheRightVerifierMovesFunds() external view {
        vm.assertEq(handler.readBreaches(5), 0);
    }

    function invariant_06_rootsOnlyMoveForward() external view {
        vm.assertEq(handler.readBreaches(6), 0);
        for (uint256 i = 0; i < handler.countStreams(); i++) {
            World.Book memory book = handler.readBook(i);
            (IStream.Root memory current, IStream.Root memory previous) = book.stream.getRoots();
            vm.assertEq(current.timestamp, book.currentAt);
            vm.assertEq(previous.timestamp, book.previousAt);
            vm.assertTrue(previous.timestamp < current.timestamp || current.timestamp == 0);
            vm.assertLe(current.timestamp, block.timestamp);
            vm.assertEq(current.root == bytes32(0), current.timestamp == 0);
            vm.assertEq(book.stream.getTotalAllocated(), book.allocated);
        }
    }

    function invariant_07_feesAreTakenOnceAndFromTheAdminAlone() external view {
        for (uint256 i = 0; i < TOKENS; i++) {
            (uint256 taken, uint256 received) = handler.readFees(i);
            vm.assertEq(received, taken);
            for (uint256 admin = 0; admin < 2; admin++) {
                (uint256 has, uint256 shouldHave) = handler.readAdmin(i, admin);
                vm.assertEq(has, shouldHave);
            }
        }
    }

    function invariant_08_saltsAndIdsAreUsedOnce() external view {
        vm.assertEq(handler.readBreaches(8), 0);
        (bytes32[] memory used, bytes32[] memory refused) = handler.readSalts();
        for (uint256 i = 0; i < used.length; i++) {
            vm.assertTrue(factory.isSaltUsed(used[i]));
        }
        for (uint256 i = 0; i < refused.length; i++) {
            vm.assertFalse(factory.isSaltUsed(refused[i]));
        }
        for (uint256 i = 0; i < handler.countStreams(); i++) {
            World.Book memory book = handler.readBook(i);
            vm.assertEq(factory.getStreamAddress(book.id), address(book.stream));
            vm.assertEq(bytes32(book.stream.getStreamId()), bytes32(book.id));
            vm.assertEq(book.stream.getRewardToken(), book.token);
            vm.assertEq(book.stream.getAdmin(), book.admin);
        }
    }

    function invariant_09_theFactoryHoldsNothing() external view {
        for (uint256 i = 0; i < TOKENS; i++) {
            IERC20 token = IERC20(handler.readToken(i));
            vm.assertEq(token.balanceOf(address(factory)), 0);
            vm.assertEq(token.balanceOf(factory.getStreamImplementation()), 0);
        }
    }

    function invariant_10_canClaimForetellsEveryClaim() external view {
        vm.assertEq(handler.readBreaches(10), 0);
    }

    function invariant_11_aPauseStopsWhatItSays() external view {
        vm.assertEq(handler.readBreaches(11), 0);
    }
}

/// @dev Invariants over steps that never happen prove nothing: here each step is seen to do what it is for.
contract HandlerTest is InvariantsSetUp {
    function test_theHandlerReachesEverything() external {
        bytes4[] memory selectors = steps();
        uint256 seed = uint256(keccak256("reach"));
        for (uint256 i = 0; i < 1500; i++) {
            seed = uint256(keccak256(abi.encode(seed)));
            bytes4 selector = selectors[(seed >> 200) % selectors.length];
            bytes memory data = abi.encodePacked(selector, seed, seed >> 8, seed >> 16, uint256(uint40(seed)));
            (bool succeeded, bytes memory answer) = address(handler).call(data);
            vm.assertTrue(succeeded, string(answer));
        }
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
