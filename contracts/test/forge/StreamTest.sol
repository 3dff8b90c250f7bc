// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {TestToken} from "../../src/devnet/TestToken.sol";
import {IStream} from "../../src/streams/IStream.sol";
import {IStreamFactory} from "../../src/streams/IStreamFactory.sol";
import {StreamFactory} from "../../src/streams/StreamFactory.sol";
import {Merkle} from "./Merkle.sol";
import {vm} from "./Vm.sol";

/// @dev A factory, a token, people, and the verbs the tests speak in.
abstract contract StreamTest {
    using SafeERC20 for IERC20;

    uint256 internal constant NOW = 1_750_000_000;
    uint256 internal constant CREATE_KEY = 0xC1;
    uint256 internal constant WITHDRAW_KEY = 0xD1;
    uint256 internal constant STRANGER_KEY = 0xE1;
    bytes16 internal constant ID = 0x248df4b7aa7047b8a03633ac447e668d;
    bytes32 internal constant SALT = keccak256("salt");
    uint40 internal constant DEADLINE = uint40(NOW + 300);

    address internal immutable OWNER = address(0x1001);
    address internal immutable COMMITTER = address(0x1002);
    address internal immutable COLLECTOR = address(0x1003);
    address internal immutable PAUSER = address(0x1004);
    address internal immutable ADMIN = address(0x2001);
    address internal immutable OTHER_ADMIN = address(0x2002);
    address internal immutable ALICE = address(0x3001);
    address internal immutable BOB = address(0x3002);
    address internal immutable CAROL = address(0x3003);

    StreamFactory internal factory;
    TestToken internal token;

    function setUp() public virtual {
        vm.warp(NOW);
        factory = deployFactory();
        token = new TestToken("Reward", "RWD", 18);
        token.mint(ADMIN, 1_000_000);
        allow(address(token), ADMIN);
    }

    function deployFactory() internal returns (StreamFactory) {
        return new StreamFactory(
            OWNER, [vm.addr(CREATE_KEY), vm.addr(WITHDRAW_KEY), COMMITTER, COLLECTOR, PAUSER]
        );
    }

    /// @dev Lets the factory pull anything of `account`.
    function allow(address asset, address account) internal {
        vm.startPrank(account);
        IERC20(asset).forceApprove(address(factory), type(uint256).max);
        vm.stopPrank();
    }

    function sign(uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return abi.encodePacked(r, s, v);
    }

    function createParams(address asset, uint256 net, uint256 fee)
        internal
        pure
        returns (IStreamFactory.CreateStreamParams memory)
    {
        return IStreamFactory.CreateStreamParams(ID, asset, net, fee);
    }

    function signCreate(address creator, IStreamFactory.CreateStreamParams memory params)
        internal
        view
        returns (bytes memory)
    {
        return sign(CREATE_KEY, factory.getCreateStreamDigest(creator, params, DEADLINE));
    }

    function signAdd(address admin, IStreamFactory.AddFundsParams memory params, bytes32 salt)
        internal
        view
        returns (bytes memory)
    {
        return sign(CREATE_KEY, factory.getAddFundsDigest(admin, params, salt, DEADLINE));
    }

    function signWithdraw(address admin, IStreamFactory.WithdrawFundsParams memory params, bytes32 salt)
        internal
        view
        returns (bytes memory)
    {
        return sign(WITHDRAW_KEY, factory.getWithdrawFundsDigest(admin, params, salt, DEADLINE));
    }

    /// @dev A stream of ADMIN over `asset` with a budget of `net`, no fee.
    function createStream(address asset, uint256 net) internal returns (IStream) {
        return createStream(ID, asset, net);
    }

    function createStream(bytes16 id, address asset, uint256 net) internal returns (IStream) {
        IStreamFactory.CreateStreamParams memory params = IStreamFactory.CreateStreamParams(id, asset, net, 0);
        bytes memory signature = signCreate(ADMIN, params);
        vm.prank(ADMIN);
        return IStream(factory.createStream(params, DEADLINE, signature));
    }

    function addFunds(IStream stream, uint256 net, uint256 fee, bytes32 salt) internal {
        IStreamFactory.AddFundsParams memory params = IStreamFactory.AddFundsParams(address(stream), net, fee);
        bytes memory signature = signAdd(ADMIN, params, salt);
        vm.prank(ADMIN);
        factory.addFunds(params, salt, DEADLINE, signature);
    }

    function withdrawFunds(IStream stream, address to, uint256 amount, bytes32 salt) internal {
        IStreamFactory.WithdrawFundsParams memory params =
            IStreamFactory.WithdrawFundsParams(address(stream), to, amount);
        bytes memory signature = signWithdraw(ADMIN, params, salt);
        vm.prank(ADMIN);
        factory.withdrawFunds(params, salt, DEADLINE, signature);
    }

    /// @dev The leaves of Alice, Bob and Carol.
    function leavesOf(uint256 alice, uint256 bob, uint256 carol) internal view returns (bytes32[] memory leaves) {
        leaves = new bytes32[](3);
        leaves[0] = Merkle.leaf(ALICE, alice);
        leaves[1] = Merkle.leaf(BOB, bob);
        leaves[2] = Merkle.leaf(CAROL, carol);
    }

    function commit(IStream stream, bytes32[] memory leaves, uint40 timestamp, uint256 totalAllocated) internal {
        vm.prank(COMMITTER);
        stream.updateRoot(Merkle.root(leaves), timestamp, totalAllocated);
    }

    function claimAs(IStream stream, address user, uint256 amount, uint40 timestamp, bytes32[] memory proof) internal {
        vm.prank(user);
        stream.claim(amount, timestamp, proof);
    }
}
