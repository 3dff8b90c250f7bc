// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IStream} from "../../src/streams/IStream.sol";
import {IStreamFactory} from "../../src/streams/IStreamFactory.sol";
import {Honest} from "./Honest.sol";
import {Merkle} from "./Merkle.sol";
import {vm} from "./Vm.sol";

/// @dev What people try that they should not. Each step must be refused; a success is entered as a breach.
contract Handler is Honest {
    /// @dev A withdrawal, an addition or a creation with one flaw.
    function forge(uint256 streamSeed, uint256 flawSeed) external withStream {
        Book storage book = pick(streamSeed);
        uint256 kind = (flawSeed / 10) % 4;
        if (kind == 0) tryAdd(book, flawSeed % 2 == 0 ? STRANGER_KEY : withdrawKey);
        else if (kind == 1) tryCreate(book, flawSeed % 2 == 0);
        else forgeWithdrawal(book, flawSeed);
    }

    /// @dev The doors that are the factory's alone, and those of the owner and the pauser.
    function trespass(uint256 streamSeed, uint256 doorSeed, uint256 amount) external withStream {
        Book storage book = pick(streamSeed);
        uint256 door = doorSeed % 8;
        bytes memory data = door == 0
            ? abi.encodeCall(book.stream.withdraw, (STRANGER, amount))
            : door == 1
                ? abi.encodeCall(book.stream.recordFunds, (amount))
                : door == 2
                    ? abi.encodeCall(book.stream.initialize, (book.id, book.token, STRANGER))
                    : door == 3
                        ? abi.encodeCall(book.stream.setClaimsPaused, (true))
                        : door == 4
                            ? abi.encodeCall(factory.setRole, (IStreamFactory.Role(amount % 5), STRANGER))
                            : door == 5
                                ? abi.encodeCall(factory.setClaimsPaused, (address(book.stream), true))
                                : door == 6
                                    ? abi.encodeCall(factory.pause, ())
                                    : abi.encodeCall(factory.transferOwnership, (STRANGER));
        vm.prank(amount % 2 == 0 ? STRANGER : book.admin);
        enterForgery(door < 4 ? address(book.stream) : address(factory), data);
    }

    /// @dev A commit that goes backwards, ahead of time, beyond the means, or comes from another.
    function commitWrongly(uint256 streamSeed, uint256 flawSeed) external withStream {
        Book storage book = pick(streamSeed);
        if (book.currentAt >= block.timestamp) vm.warp(book.currentAt + 1);
        uint256 flaw = flawSeed % 6;
        uint256 timestamp = flaw == 0
            ? book.currentAt - (book.currentAt == 0 ? 0 : flawSeed % book.currentAt)
            : flaw == 1 ? block.timestamp + 1 + (flawSeed % 1e6) : block.timestamp;
        uint256 payable_ = book.paid + IERC20(book.token).balanceOf(address(book.stream));
        uint256 total = book.allocated;
        if (flaw == 2) total = book.funded + 1 + (flawSeed % 1e18);
        if (flaw == 3) total = payable_ + 1 + (flawSeed % 1e18);
        if (flaw == 4 && total > 0) total = flawSeed % total;
        bytes32 root = flaw == 4 && book.allocated == 0 ? bytes32(0) : keccak256(abi.encode(flawSeed));
        bytes memory data = abi.encodeCall(book.stream.updateRoot, (root, uint40(timestamp), total));
        vm.prank(flaw == 5 ? book.admin : COMMITTER);
        (bool succeeded,) = address(book.stream).call(data);
        if (succeeded) breaches[6]++;
        else tally.refusedCommits++;
    }

    /// @dev More than is owed to nobody, with everything signed.
    function withdrawTooMuch(uint256 streamSeed, uint256 extra) external withStream {
        Book storage book = pick(streamSeed);
        uint256 withdrawable = book.stream.getWithdrawable();
        extra = bound(extra, 1, type(uint256).max - withdrawable);
        bytes32 salt = nextSalt();
        IStreamFactory.WithdrawFundsParams memory params =
            IStreamFactory.WithdrawFundsParams(address(book.stream), book.admin, withdrawable + extra);
        bytes memory signature =
            sign(withdrawKey, factory.getWithdrawFundsDigest(book.admin, params, salt, deadline()));
        vm.prank(book.admin);
        try factory.withdrawFunds(params, salt, deadline(), signature) {
            breaches[4]++;
        } catch {
            tally.refusedWithdrawals++;
        }
        refusedSalts.push(salt);
    }

    /// @dev A claim nobody committed: another amount, another's proof, another time.
    function claimForged(uint256 streamSeed, uint256 userSeed, uint256 amount, uint40 timestamp) external withStream {
        Book storage book = pick(streamSeed);
        uint256 user = userSeed % USERS;
        bytes32[] memory proof = Merkle.proof(leavesOf(book.current), (user + userSeed % USERS) % USERS);
        bool known = timestamp == book.currentAt || timestamp == book.previousAt;
        if (known || timestamp % 2 == 0) timestamp = book.currentAt;
        if (amount == book.current[user]) amount ^= 1;
        bool foretold = book.stream.canClaim(users[user], amount, timestamp, proof);
        vm.prank(users[user]);
        try book.stream.claim(amount, timestamp, proof) {
            breaches[3]++;
        } catch {
            tally.refusedClaims++;
        }
        if (foretold) breaches[10]++;
    }

    /// @dev Claims while the token calls back for a claim of its own, which it could make at any other time.
    function reenter(uint256 streamSeed, uint256 userSeed) external withStream {
        Book storage book = books[streamSeed % 2 == 0 && books.length > 3 ? 3 : 0];
        uint256 user = userSeed % (USERS - 1);
        (uint256 total, uint256[USERS] memory amounts) = planTree(book, userSeed);
        enterCommit(book, amounts, total, userSeed);
        IStreamFactory.StreamClaim memory own = planClaim(book, user, true);
        IStreamFactory.StreamClaim memory tokens_ = planClaim(book, USERS - 1, true);
        if (!book.stream.canClaim(users[user], own.amount, own.timestamp, own.proof)) return;
        bool couldClaim =
            book.stream.canClaim(address(hostile), tokens_.amount, tokens_.timestamp, tokens_.proof);
        bytes memory again = abi.encodeCall(IStream.claim, (tokens_.amount, tokens_.timestamp, tokens_.proof));
        hostile.callBack(address(book.stream), again, true);
        vm.prank(users[user]);
        book.stream.claim(own.amount, own.timestamp, own.proof);
        (bool succeeded,) = hostile.lastCallBack();
        if (succeeded) breaches[3]++;
        else if (couldClaim) tally.refusedReentries++;
        book.paid += own.amount - book.paidTo[user];
        book.paidTo[user] = own.amount;
        tally.claims++;
    }

    /// @dev Stops everything, tries everything that would otherwise succeed, and resumes.
    function pause(uint256 streamSeed, uint256 userSeed) external withStream {
        Book storage book = pick(streamSeed);
        uint256 user = userSeed % USERS;
        bytes32[] memory proof = Merkle.proof(leavesOf(book.current), user);
        bool single = userSeed % 2 == 0;
        vm.prank(PAUSER);
        if (single) factory.setClaimsPaused(address(book.stream), true);
        else factory.pause();
        bool foretold = book.stream.canClaim(users[user], book.current[user], book.currentAt, proof);
        vm.prank(users[user]);
        (bool claimed,) =
            address(book.stream).call(abi.encodeCall(book.stream.claim, (book.current[user], book.currentAt, proof)));
        if (foretold || claimed) breaches[11]++;
        if (!single) tryWhilePaused(book, (userSeed / 2) % 4);
        vm.prank(OWNER);
        if (single) factory.setClaimsPaused(address(book.stream), false);
        else factory.unpause();
        tally.refusedWhilePaused++;
    }

    /// @dev One thing that would succeed were it not for the pause.
    function tryWhilePaused(Book storage book, uint256 kind) private {
        uint256 before = tally.refusedForgeries;
        if (kind == 0) tryAdd(book, createKey);
        if (kind == 1) tryWithdraw(book, withdrawKey);
        if (kind == 2) {
            bytes16 id = bytes16(nextSalt());
            IStreamFactory.CreateStreamParams memory params = IStreamFactory.CreateStreamParams(id, book.token, 1, 0);
            bytes memory signature = sign(createKey, factory.getCreateStreamDigest(book.admin, params, deadline()));
            vm.prank(book.admin);
            enterForgery(address(factory), abi.encodeCall(factory.createStream, (params, deadline(), signature)));
        }
        if (kind == 3) {
            if (book.currentAt >= block.timestamp) vm.warp(book.currentAt + 1);
            bytes memory data = abi.encodeCall(
                book.stream.updateRoot, (keccak256("root"), uint40(block.timestamp), book.allocated)
            );
            vm.prank(COMMITTER);
            enterForgery(address(book.stream), data);
        }
        if (tally.refusedForgeries != before + 1) breaches[11]++;
    }

    function forgeWithdrawal(Book storage book, uint256 flawSeed) private {
        uint256 flaw = flawSeed % 10;
        uint256 key = flaw == 0 ? STRANGER_KEY : flaw == 1 ? createKey : withdrawKey;
        address sender = flaw == 2 || flaw == 9 ? STRANGER : book.admin;
        address signedFor = flaw == 3 || flaw == 9 ? STRANGER : book.admin;
        uint40 signedUntil = flaw == 4 ? uint40(block.timestamp - 1) : deadline();
        bytes32 salt = flaw == 5 && usedSalts.length > 0 ? usedSalts[flawSeed % usedSalts.length] : nextSalt();
        IStreamFactory.WithdrawFundsParams memory params =
            IStreamFactory.WithdrawFundsParams(address(book.stream), STRANGER, 1);
        if (flaw == 5 && usedSalts.length == 0) key = STRANGER_KEY;
        bytes32 digest = flaw == 6
            ? otherFactory.getWithdrawFundsDigest(signedFor, params, salt, signedUntil)
            : flaw == 8
                ? otherChainDigest(signedFor, params, salt, signedUntil)
                : factory.getWithdrawFundsDigest(signedFor, params, salt, signedUntil);
        if (flaw == 7) params.amount = 2;
        bytes memory data = abi.encodeCall(factory.withdrawFunds, (params, salt, signedUntil, sign(key, digest)));
        vm.prank(sender);
        enterForgery(address(factory), data);
        if (flaw != 5) refusedSalts.push(salt);
    }

    /// @dev A second stream of an id that is taken, rightly signed; or a first one signed by the wrong verifier.
    function tryCreate(Book storage book, bool taken) private {
        bytes16 id = taken ? book.id : bytes16(nextSalt());
        IStreamFactory.CreateStreamParams memory params = IStreamFactory.CreateStreamParams(id, book.token, 1, 0);
        bytes32 digest = factory.getCreateStreamDigest(book.admin, params, deadline());
        bytes memory signature = sign(taken ? createKey : withdrawKey, digest);
        vm.prank(book.admin);
        bytes memory data = abi.encodeCall(factory.createStream, (params, deadline(), signature));
        (bool succeeded,) = address(factory).call(data);
        if (succeeded) breaches[taken ? 8 : 5]++;
        else tally.refusedForgeries++;
    }

    /// @dev What the verifier would sign for a factory at the same address on another chain.
    function otherChainDigest(
        address admin,
        IStreamFactory.WithdrawFundsParams memory params,
        bytes32 salt,
        uint40 until
    ) private returns (bytes32 digest) {
        uint256 here = block.chainid;
        vm.chainId(here + 1);
        digest = factory.getWithdrawFundsDigest(admin, params, salt, until);
        vm.chainId(here);
    }
}
