// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IStream} from "../../src/streams/IStream.sol";
import {IStreamFactory} from "../../src/streams/IStreamFactory.sol";
import {Checks} from "./Checks.sol";
import {Merkle} from "./Merkle.sol";
import {vm} from "./Vm.sol";

/// @dev What people do as they should. Each step must succeed, and is entered in the books.
abstract contract Honest is Checks {
    using SafeERC20 for IERC20;

    modifier withStream() {
        if (books.length == 0) createStream(0, 1e18, 1);
        _;
    }

    function pass(uint256 secondsSeed) external {
        vm.warp(block.timestamp + bound(secondsSeed, 1, 1 days));
    }

    function createStream(uint256 adminSeed, uint256 net, uint256 fee) public {
        if (books.length == STREAMS_MAX) return;
        address admin = admins[adminSeed % admins.length];
        address token = tokens[books.length % tokens.length];
        net = bound(net, 1, 1e24);
        fee = bound(fee, 0, 1e22);
        bytes16 id = bytes16(keccak256(abi.encode("stream", books.length)));
        IStreamFactory.CreateStreamParams memory params = IStreamFactory.CreateStreamParams(id, token, net, fee);
        bytes memory signature = sign(createKey, factory.getCreateStreamDigest(admin, params, deadline()));
        vm.prank(admin);
        Book storage book = books.push();
        book.stream = IStream(factory.createStream(params, deadline(), signature));
        (book.id, book.token, book.admin, book.funded) = (id, token, admin, net);
        feesTaken[token] += fee;
        spent[token][admin] += net + fee;
        tally.creations++;
    }

    function addFunds(uint256 streamSeed, uint256 net, uint256 fee) external withStream {
        Book storage book = pick(streamSeed);
        net = bound(net, 1, 1e24);
        fee = bound(fee, 0, 1e22);
        bytes32 salt = nextSalt();
        IStreamFactory.AddFundsParams memory params = IStreamFactory.AddFundsParams(address(book.stream), net, fee);
        bytes memory signature = sign(createKey, factory.getAddFundsDigest(book.admin, params, salt, deadline()));
        vm.prank(book.admin);
        factory.addFunds(params, salt, deadline(), signature);
        usedSalts.push(salt);
        book.funded += net;
        feesTaken[book.token] += fee;
        spent[book.token][book.admin] += net + fee;
        tally.additions++;
    }

    function withdraw(uint256 streamSeed, uint256 toSeed, uint256 amount) external withStream {
        Book storage book = pick(streamSeed);
        uint256 withdrawable = book.stream.getWithdrawable();
        if (withdrawable == 0) return;
        amount = bound(amount, 1, withdrawable);
        address to = toSeed % 3 == 0 ? STRANGER : book.admin;
        bytes32 salt = nextSalt();
        IStreamFactory.WithdrawFundsParams memory params =
            IStreamFactory.WithdrawFundsParams(address(book.stream), to, amount);
        bytes memory signature =
            sign(withdrawKey, factory.getWithdrawFundsDigest(book.admin, params, salt, deadline()));
        vm.prank(book.admin);
        factory.withdrawFunds(params, salt, deadline(), signature);
        usedSalts.push(salt);
        book.withdrawn += amount;
        if (to == book.admin) returned[book.token][book.admin] += amount;
        tally.withdrawals++;
    }

    /// @dev Shares what can be allocated among the users; each is allocated at least what it was paid.
    function commit(uint256 streamSeed, uint256 seed) external withStream {
        Book storage book = pick(streamSeed);
        (uint256 total, uint256[USERS] memory amounts) = planTree(book, seed);
        enterCommit(book, amounts, total, seed);
        tally.commits++;
    }

    /// @dev A tree that promises more than is allocated, as a faulty or stolen committer would make it.
    function commitGreedily(uint256 streamSeed, uint256 seed) external withStream {
        Book storage book = pick(streamSeed);
        (uint256 total, uint256[USERS] memory amounts) = planTree(book, seed);
        for (uint256 i = 0; i < USERS; i++) {
            uint256 more = mix(seed, 40 + i);
            amounts[i] = more % 3 == 0 ? more : amounts[i] + (more % 1e24);
        }
        enterCommit(book, amounts, total, seed);
        tally.greedyCommits++;
    }

    function donate(uint256 streamSeed, uint256 amount) external withStream {
        Book storage book = pick(streamSeed);
        amount = bound(amount, 1, 1e20);
        vm.startPrank(STRANGER);
        IERC20(book.token).safeTransfer(address(book.stream), amount);
        vm.stopPrank();
        book.donated += amount;
        tally.donations++;
    }

    /// @dev Claims by one of three ways, with a proof for the current or the previous root. `canClaim` must foretell
    /// what happens, and exactly what is open must arrive.
    function claim(uint256 streamSeed, uint256 userSeed, uint256 waySeed) external withStream {
        Book storage book = pick(streamSeed);
        uint256 user = userSeed % USERS;
        bool current = waySeed % 4 != 0;
        IStreamFactory.StreamClaim memory attempt = planClaim(book, user, current);
        bool foretold = book.stream.canClaim(users[user], attempt.amount, attempt.timestamp, attempt.proof);
        uint256 before = IERC20(book.token).balanceOf(users[user]);
        bool succeeded = tryClaim(user, attempt, (waySeed / 4) % 3);
        if (succeeded != foretold) breaches[10]++;
        uint256 received = IERC20(book.token).balanceOf(users[user]) - before;
        if (!succeeded) {
            if (received != 0) breaches[3]++;
            tally.refusedClaims++;
            if (attempt.timestamp != 0 && attempt.amount > book.paidTo[user]) tally.exhaustedClaims++;
            return;
        }
        if (received != attempt.amount - book.paidTo[user]) breaches[3]++;
        book.paid += received;
        book.paidTo[user] += received;
        tally.claims++;
        if (!current) tally.previousRootClaims++;
    }

    /// @dev The verifiers change; what the old ones signed must be void.
    function rotateVerifiers(uint256 seed) external {
        uint256 oldCreateKey = createKey;
        uint256 oldWithdrawKey = withdrawKey;
        createKey = bound(seed, 1e6, 1e9);
        withdrawKey = createKey + 1;
        vm.startPrank(OWNER);
        factory.setRole(IStreamFactory.Role.CreateVerifier, vm.addr(createKey));
        factory.setRole(IStreamFactory.Role.WithdrawVerifier, vm.addr(withdrawKey));
        vm.stopPrank();
        if (books.length > 0) {
            if (seed % 2 == 0 && oldCreateKey != createKey) tryAdd(books[0], oldCreateKey);
            if (seed % 2 == 1 && oldWithdrawKey != withdrawKey) tryWithdraw(books[0], oldWithdrawKey);
        }
        tally.rotations++;
    }

    function pick(uint256 seed) internal view returns (Book storage) {
        return books[seed % books.length];
    }

    /// @dev A rightly formed addition signed by a key that must not be good.
    function tryAdd(Book storage book, uint256 key) internal {
        bytes32 salt = nextSalt();
        IStreamFactory.AddFundsParams memory params = IStreamFactory.AddFundsParams(address(book.stream), 1, 0);
        bytes memory signature = sign(key, factory.getAddFundsDigest(book.admin, params, salt, deadline()));
        vm.prank(book.admin);
        enterForgery(address(factory), abi.encodeCall(factory.addFunds, (params, salt, deadline(), signature)));
        refusedSalts.push(salt);
    }

    /// @dev A rightly formed withdrawal signed by a key that must not be good.
    function tryWithdraw(Book storage book, uint256 key) internal {
        bytes32 salt = nextSalt();
        IStreamFactory.WithdrawFundsParams memory params =
            IStreamFactory.WithdrawFundsParams(address(book.stream), STRANGER, 1);
        bytes memory signature = sign(key, factory.getWithdrawFundsDigest(book.admin, params, salt, deadline()));
        vm.prank(book.admin);
        enterForgery(address(factory), abi.encodeCall(factory.withdrawFunds, (params, salt, deadline(), signature)));
        refusedSalts.push(salt);
    }

    /// @dev Makes a call that must be refused; a success breaks invariant 5.
    function enterForgery(address target, bytes memory data) internal {
        (bool succeeded,) = target.call(data);
        if (succeeded) breaches[5]++;
        else tally.refusedForgeries++;
    }

    function planTree(Book storage book, uint256 seed)
        internal
        view
        returns (uint256 total, uint256[USERS] memory amounts)
    {
        uint256 payable_ = book.paid + IERC20(book.token).balanceOf(address(book.stream));
        total = bound(mix(seed, 1), book.allocated, payable_ < book.funded ? payable_ : book.funded);
        uint256 open = total - book.paid;
        for (uint256 i = 0; i < USERS; i++) {
            uint256 part = i == USERS - 1 ? open : bound(mix(seed, 10 + i), 0, open);
            amounts[i] = book.paidTo[i] + part;
            open -= part;
        }
    }

    function enterCommit(Book storage book, uint256[USERS] memory amounts, uint256 total, uint256 seed) internal {
        if (book.currentAt >= block.timestamp) vm.warp(book.currentAt + 1);
        uint40 timestamp = uint40(bound(mix(seed, 2), book.currentAt + 1, block.timestamp));
        bytes32 root = Merkle.root(leavesOf(amounts));
        vm.prank(COMMITTER);
        book.stream.updateRoot(root, timestamp, total);
        (book.previousAt, book.currentAt) = (book.currentAt, timestamp);
        book.previous = book.current;
        book.current = amounts;
        book.allocated = total;
        for (uint256 i = 0; i < USERS; i++) {
            if (amounts[i] > book.highest[i]) book.highest[i] = amounts[i];
        }
    }

    function planClaim(Book storage book, uint256 user, bool current)
        internal
        view
        returns (IStreamFactory.StreamClaim memory)
    {
        uint256[USERS] memory amounts = current ? book.current : book.previous;
        uint40 timestamp = current ? book.currentAt : book.previousAt;
        bytes32[] memory proof = Merkle.proof(leavesOf(amounts), user);
        return IStreamFactory.StreamClaim(address(book.stream), amounts[user], timestamp, proof);
    }

    function tryClaim(uint256 user, IStreamFactory.StreamClaim memory attempt, uint256 way)
        private
        returns (bool succeeded)
    {
        IStreamFactory.StreamClaim[] memory batch = new IStreamFactory.StreamClaim[](1);
        batch[0] = attempt;
        address target = way == 0 ? attempt.stream : address(factory);
        bytes memory data = abi.encodeCall(factory.batchClaim, (batch));
        if (way == 0) data = abi.encodeCall(IStream.claim, (attempt.amount, attempt.timestamp, attempt.proof));
        if (way == 2) data = abi.encodeCall(factory.batchClaimFor, (users[user], batch));
        vm.prank(way == 2 ? OPERATOR : users[user]);
        (succeeded,) = target.call(data);
        if (succeeded && way == 1) tally.batchClaims++;
        if (succeeded && way == 2) tally.operatorClaims++;
    }
}
