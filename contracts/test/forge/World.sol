// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {NoReturnToken} from "../../src/devnet/NoReturnToken.sol";
import {TestToken} from "../../src/devnet/TestToken.sol";
import {IStream} from "../../src/streams/IStream.sol";
import {IStreamFactory} from "../../src/streams/IStreamFactory.sol";
import {StreamFactory} from "../../src/streams/StreamFactory.sol";
import {Merkle} from "./Merkle.sol";
import {HostileToken} from "./tokens/HostileToken.sol";
import {vm} from "./Vm.sol";

/// @dev The people, the tokens and the books that the invariants compare the contracts with.
abstract contract World {
    using SafeERC20 for IERC20;

    uint256 internal constant START = 1_750_000_000;
    uint256 internal constant USERS = 4;
    uint256 internal constant STREAMS_MAX = 4;
    uint256 internal constant STRANGER_KEY = 0xBAD;
    uint256 internal constant ADMIN_WEALTH = 1e30;
    address internal constant OWNER = address(0x1001);
    address internal constant COMMITTER = address(0x1002);
    address internal constant COLLECTOR = address(0x1003);
    address internal constant PAUSER = address(0x1004);
    address internal constant OPERATOR = address(0x4001);
    address internal constant STRANGER = address(0x5001);

    /// @dev What was done to a stream, kept apart from what the stream says of itself.
    struct Book {
        IStream stream;
        bytes16 id;
        address token;
        address admin;
        uint256 funded;
        uint256 donated;
        uint256 withdrawn;
        uint256 paid;
        uint256 allocated;
        uint40 currentAt;
        uint40 previousAt;
        uint256[USERS] current;
        uint256[USERS] previous;
        uint256[USERS] paidTo;
        uint256[USERS] highest;
    }

    /// @dev How often each thing happened, to show that the invariants were put to the test.
    struct Tally {
        uint256 creations;
        uint256 additions;
        uint256 withdrawals;
        uint256 commits;
        uint256 greedyCommits;
        uint256 claims;
        uint256 previousRootClaims;
        uint256 batchClaims;
        uint256 operatorClaims;
        uint256 refusedClaims;
        uint256 exhaustedClaims;
        uint256 refusedForgeries;
        uint256 refusedCommits;
        uint256 refusedWithdrawals;
        uint256 refusedReentries;
        uint256 refusedWhilePaused;
        uint256 rotations;
        uint256 donations;
    }

    StreamFactory public factory;
    StreamFactory internal otherFactory;
    HostileToken internal hostile;
    address[3] internal tokens;
    address[2] internal admins = [address(0x2001), address(0x2002)];
    address[USERS] internal users = [address(0x3001), address(0x3002), address(0x3003), address(0)];
    uint256 internal createKey = 0xC1;
    uint256 internal withdrawKey = 0xD1;
    Book[] internal books;
    Tally internal tally;
    bytes32[] internal usedSalts;
    bytes32[] internal refusedSalts;
    uint256 internal saltCount;
    mapping(address token => uint256) internal feesTaken;
    mapping(address token => mapping(address admin => uint256)) internal spent;
    mapping(address token => mapping(address admin => uint256)) internal returned;
    mapping(uint256 invariantNumber => uint256) internal breaches;

    constructor() {
        vm.warp(START);
        address[5] memory holders = [vm.addr(createKey), vm.addr(withdrawKey), COMMITTER, COLLECTOR, PAUSER];
        factory = new StreamFactory(OWNER, holders);
        otherFactory = new StreamFactory(OWNER, holders);
        TestToken plain = new TestToken("Plain", "PLN", 18);
        NoReturnToken old = new NoReturnToken("Old", "OLD", 6);
        hostile = new HostileToken();
        tokens = [address(hostile), address(plain), address(old)];
        users[3] = address(hostile);
        for (uint256 i = 0; i < admins.length; i++) {
            plain.mint(admins[i], ADMIN_WEALTH);
            old.mint(admins[i], ADMIN_WEALTH);
            hostile.mint(admins[i], ADMIN_WEALTH);
            for (uint256 j = 0; j < tokens.length; j++) {
                vm.startPrank(admins[i]);
                IERC20(tokens[j]).forceApprove(address(factory), type(uint256).max);
                vm.stopPrank();
            }
        }
        plain.mint(STRANGER, ADMIN_WEALTH);
        old.mint(STRANGER, ADMIN_WEALTH);
        hostile.mint(STRANGER, ADMIN_WEALTH);
        for (uint256 i = 0; i < USERS; i++) {
            vm.prank(users[i]);
            factory.setClaimOperator(OPERATOR, true);
        }
    }

    function readTally() external view returns (Tally memory) {
        return tally;
    }

    function bound(uint256 seed, uint256 low, uint256 high) internal pure returns (uint256) {
        return high - low == type(uint256).max ? seed : low + (seed % (high - low + 1));
    }

    function mix(uint256 seed, uint256 step) internal pure returns (uint256) {
        return uint256(keccak256(abi.encode(seed, step)));
    }

    function sign(uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return abi.encodePacked(r, s, v);
    }

    function nextSalt() internal returns (bytes32) {
        return keccak256(abi.encode("salt", ++saltCount));
    }

    function deadline() internal view returns (uint40) {
        return uint40(block.timestamp + 300);
    }

    function leavesOf(uint256[USERS] memory amounts) internal view returns (bytes32[] memory leaves) {
        leaves = new bytes32[](USERS);
        for (uint256 i = 0; i < USERS; i++) {
            leaves[i] = Merkle.leaf(users[i], amounts[i]);
        }
    }
}
