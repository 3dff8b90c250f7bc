// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {MapleManager} from "./MaplePool.sol";

/// @title A queue with the published behaviour of Maple's withdrawal managers, for tests
/// @notice First come, first served; one open request an owner. The delegate processes shares, in part where the last request
/// is larger, and may take a request out. Who is set to manual gets nothing sent: what is processed is redeemed by the owner.
contract MapleQueue {
    using SafeERC20 for IERC20;

    struct Request {
        address owner;
        uint256 shares;
    }

    MapleManager public immutable poolManager;
    address public immutable pool;
    uint256 public totalShares;
    uint128 public nextRequestId = 1;
    uint128 public lastRequestId;
    mapping(uint128 id => Request) public requests;
    mapping(address owner => uint128) public requestIds;
    mapping(address owner => bool) public isManualWithdrawal;
    mapping(address owner => uint256) public manualSharesAvailable;

    event RequestCreated(uint128 indexed requestId, address indexed owner, uint256 shares);
    event RequestDecreased(uint128 indexed requestId, uint256 shares);
    event RequestProcessed(uint128 indexed requestId, address indexed owner, uint256 shares, uint256 assets);
    event RequestRemoved(uint128 indexed requestId);
    event ManualWithdrawalSet(address indexed owner, bool isManual);
    event ManualSharesIncreased(address indexed owner, uint256 sharesAdded);
    event ManualSharesDecreased(address indexed owner, uint256 sharesRemoved);

    modifier onlyManager() {
        require(msg.sender == address(poolManager), "WM:NOT_PM");
        _;
    }

    modifier onlyDelegate() {
        require(msg.sender == poolManager.poolDelegate(), "WM:NOT_PD_OR_GOV_OR_OA");
        _;
    }

    constructor(address pool_) {
        (poolManager, pool) = (MapleManager(msg.sender), pool_);
    }

    function addShares(uint256 shares, address owner) external onlyManager {
        require(shares > 0, "WM:AS:ZERO_SHARES");
        require(requestIds[owner] == 0, "WM:AS:IN_QUEUE");
        uint128 id = ++lastRequestId;
        requests[id] = Request(owner, shares);
        requestIds[owner] = id;
        totalShares += shares;
        IERC20(pool).safeTransferFrom(msg.sender, address(this), shares);
        emit RequestCreated(id, owner, shares);
    }

    function removeShares(uint256 shares, address owner) external onlyManager returns (uint256) {
        uint128 id = requestIds[owner];
        require(shares > 0, "WM:RS:ZERO_SHARES");
        require(id > 0, "WM:RS:NOT_IN_QUEUE");
        require(shares <= requests[id].shares, "WM:RS:INSUFFICIENT_SHARES");
        totalShares -= shares;
        _decrease(id, shares);
        IERC20(pool).safeTransfer(owner, shares);
        return shares;
    }

    /// @notice The delegate takes a request out of the queue; its owner gets the shares back.
    function removeRequest(address owner) external onlyDelegate {
        uint128 id = requestIds[owner];
        require(id > 0, "WM:RR:NOT_IN_QUEUE");
        uint256 shares = requests[id].shares;
        totalShares -= shares;
        _decrease(id, shares);
        IERC20(pool).safeTransfer(owner, shares);
    }

    function setManualWithdrawal(address owner, bool isManual) external onlyDelegate {
        require(requestIds[owner] == 0, "WM:SMW:IN_QUEUE");
        isManualWithdrawal[owner] = isManual;
        emit ManualWithdrawalSet(owner, isManual);
    }

    /// @notice Processes so many shares from the front of the queue; all of them, or none.
    function processRedemptions(uint256 shares) external {
        require(msg.sender == poolManager.poolDelegate(), "WM:NOT_REDEEMER");
        require(shares > 0, "WM:PR:ZERO_SHARES");
        (uint256 redeemable,) = _worth(shares);
        require(redeemable == shares, "WM:PR:LOW_LIQUIDITY");
        uint128 id = nextRequestId;
        for (; shares > 0 && id <= lastRequestId; ++id) {
            Request memory request = requests[id];
            if (request.owner == address(0)) continue;
            uint256 part = request.shares < shares ? request.shares : shares;
            _process(id, request.owner, part);
            shares -= part;
            if (part < request.shares) break;
        }
        nextRequestId = id;
    }

    /// @notice What the pool burns and pays for a redemption of the queue, or of who redeems by hand.
    function processExit(uint256 shares, address owner) external onlyManager returns (uint256 redeemable, uint256 assets) {
        if (owner == address(this)) return _worth(shares);
        require(shares > 0, "WM:PE:NO_SHARES");
        require(shares <= manualSharesAvailable[owner], "WM:PE:TOO_MANY_SHARES");
        (redeemable, assets) = _worth(shares);
        require(redeemable == shares, "WM:PE:NOT_ENOUGH_LIQUIDITY");
        manualSharesAvailable[owner] -= shares;
        emit ManualSharesDecreased(owner, shares);
        totalShares -= shares;
        IERC20(pool).safeTransfer(owner, shares);
    }

    function previewRedeem(address owner, uint256 shares) external view returns (uint256 redeemable, uint256 assets) {
        require(shares <= manualSharesAvailable[owner], "WM:PR:TOO_MANY_SHARES");
        return _worth(shares);
    }

    function lockedShares(address owner) external view returns (uint256) {
        return manualSharesAvailable[owner];
    }

    function _process(uint128 id, address owner, uint256 shares) private {
        (, uint256 assets) = _worth(shares);
        emit RequestProcessed(id, owner, shares, assets);
        _decrease(id, shares);
        if (isManualWithdrawal[owner]) {
            manualSharesAvailable[owner] += shares;
            emit ManualSharesIncreased(owner, shares);
            return;
        }
        totalShares -= shares;
        poolManager.pool().redeem(shares, owner, address(this));
    }

    /// @dev An emptied request is gone, and its owner may ask again.
    function _decrease(uint128 id, uint256 shares) private {
        if (requests[id].shares > shares) {
            requests[id].shares -= shares;
            emit RequestDecreased(id, shares);
            return;
        }
        delete requestIds[requests[id].owner];
        delete requests[id];
        emit RequestRemoved(id);
    }

    function _worth(uint256 shares) private view returns (uint256 redeemable, uint256 assets) {
        uint256 supply = IERC20(pool).totalSupply();
        uint256 held = poolManager.totalAssets() - poolManager.unrealizedLosses();
        uint256 needed = held * shares / supply;
        uint256 free = IERC20(poolManager.asset()).balanceOf(pool);
        redeemable = free < needed ? shares * free / needed : shares;
        assets = held * redeemable / supply;
    }
}
