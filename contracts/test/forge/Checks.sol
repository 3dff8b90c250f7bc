// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IStream} from "../../src/streams/IStream.sol";
import {World} from "./World.sol";

/// @dev The invariants of INVARIANTS.md by their numbers, as comparisons of the contracts with the books.
abstract contract Checks is World {
    /// @dev Claims never exceed what was allocated, nor allocations what was funded.
    function check01() public view {
        for (uint256 i = 0; i < books.length; i++) {
            IStream stream = books[i].stream;
            uint256 sum;
            for (uint256 user = 0; user < USERS; user++) {
                sum += stream.getClaimedRewards(users[user]);
            }
            uint256 allocated = stream.getTotalAllocated();
            require(sum == stream.getTotalClaimed(), "1: sum of claims");
            require(sum <= allocated, "1: claims above allocated");
            require(allocated <= stream.getTotalFunded(), "1: allocated above funded");
        }
    }

    /// @dev Every stream holds what it owes.
    function check02() public view {
        for (uint256 i = 0; i < books.length; i++) {
            IStream stream = books[i].stream;
            uint256 owed = stream.getTotalAllocated() - stream.getTotalClaimed();
            require(owed <= IERC20(books[i].token).balanceOf(address(stream)), "2: owed above balance");
        }
    }

    /// @dev Nobody is paid twice, nor what was not committed for it.
    function check03() public view {
        require(breaches[3] == 0, "3: paid wrongly");
        for (uint256 i = 0; i < books.length; i++) {
            for (uint256 user = 0; user < USERS; user++) {
                uint256 paid = books[i].paidTo[user];
                require(paid == books[i].stream.getClaimedRewards(users[user]), "3: paid is not claimed");
                require(paid <= books[i].highest[user], "3: paid above committed");
            }
        }
    }

    /// @dev Funds leave only by claims and by withdrawals of what is not owed.
    function check04() public view {
        require(breaches[4] == 0, "4: withdrawn too much");
        for (uint256 i = 0; i < books.length; i++) {
            Book storage book = books[i];
            uint256 balance = IERC20(book.token).balanceOf(address(book.stream));
            require(balance + book.paid + book.withdrawn == book.funded + book.donated, "4: balance");
            require(book.stream.getTotalFunded() == book.funded, "4: funded");
            require(book.stream.getTotalClaimed() == book.paid, "4: claimed");
        }
    }

    /// @dev Only the admin with a fresh, unexpired signature of the right verifier moves funds in or out.
    function check05() public view {
        require(breaches[5] == 0, "5: a forgery was accepted");
    }

    /// @dev Roots only move forward.
    function check06() public view {
        require(breaches[6] == 0, "6: a wrong commit was accepted");
        for (uint256 i = 0; i < books.length; i++) {
            Book storage book = books[i];
            (IStream.Root memory current, IStream.Root memory previous) = book.stream.getRoots();
            require(current.timestamp == book.currentAt, "6: current");
            require(previous.timestamp == book.previousAt, "6: previous");
            require(previous.timestamp < current.timestamp || current.timestamp == 0, "6: order");
            require(current.timestamp <= block.timestamp, "6: future");
            require((current.root == bytes32(0)) == (current.timestamp == 0), "6: zero root");
            require(book.stream.getTotalAllocated() == book.allocated, "6: allocated");
        }
    }

    /// @dev Every fee is taken once, and from the admin alone.
    function check07() public view {
        for (uint256 i = 0; i < tokens.length; i++) {
            address token = tokens[i];
            require(IERC20(token).balanceOf(COLLECTOR) == feesTaken[token], "7: fees");
            for (uint256 j = 0; j < admins.length; j++) {
                uint256 shouldHave = ADMIN_WEALTH + returned[token][admins[j]] - spent[token][admins[j]];
                require(IERC20(token).balanceOf(admins[j]) == shouldHave, "7: an admin's balance");
            }
        }
    }

    /// @dev Salts and ids are used once; a stream stays what it is.
    function check08() public view {
        require(breaches[8] == 0, "8: an id was used twice");
        checkSalts(usedSalts, true);
        checkSalts(refusedSalts, false);
        for (uint256 i = 0; i < books.length; i++) {
            Book storage book = books[i];
            require(factory.getStreamAddress(book.id) == address(book.stream), "8: address");
            require(book.stream.getStreamId() == book.id, "8: id");
            require(book.stream.getRewardToken() == book.token, "8: token");
            require(book.stream.getAdmin() == book.admin, "8: admin");
        }
    }

    /// @dev The factory and the code behind the streams hold nothing.
    function check09() public view {
        address implementation = factory.getStreamImplementation();
        for (uint256 i = 0; i < tokens.length; i++) {
            require(IERC20(tokens[i]).balanceOf(address(factory)) == 0, "9: factory");
            require(IERC20(tokens[i]).balanceOf(implementation) == 0, "9: implementation");
        }
    }

    /// @dev `canClaim` foretells every claim.
    function check10() public view {
        require(breaches[10] == 0, "10: foretold wrongly");
    }

    /// @dev A pause stops what it says.
    function check11() public view {
        require(breaches[11] == 0, "11: went on while paused");
    }

    /// @dev The newest salt, and an older one, another each time.
    function checkSalts(bytes32[] storage salts, bool used) private view {
        if (salts.length == 0) return;
        require(factory.isSaltUsed(salts[salts.length - 1]) == used, "8: salt");
        require(factory.isSaltUsed(salts[saltCount % salts.length]) == used, "8: salt");
    }
}
