// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {VedaAccountant, VedaVault} from "./VedaVault.sol";

/// @title A queue of withdrawals with the published behaviour of Veda's BoringOnChainQueue, for tests
/// @notice A wallet hands its shares over for assets at the price of that moment, less a discount. Until the deadline a solver may
/// take the shares for them; the wallet may take the shares back, or ask anew on other terms, at any time.
contract VedaQueue {
    using SafeERC20 for IERC20;

    struct WithdrawAsset {
        bool allowWithdraws;
        uint24 secondsToMaturity;
        uint24 minimumSecondsToDeadline;
        uint16 minDiscount;
        uint16 maxDiscount;
        uint96 minimumShares;
    }

    struct OnChainWithdraw {
        uint96 nonce;
        address user;
        address assetOut;
        uint128 amountOfShares;
        uint128 amountOfAssets;
        uint40 creationTime;
        uint24 secondsToMaturity;
        uint24 secondsToDeadline;
    }

    address public immutable owner = msg.sender;
    VedaVault public immutable boringVault;
    VedaAccountant public immutable accountant;
    mapping(address asset => WithdrawAsset) public withdrawAssets;
    mapping(bytes32 id => bool) private _isOpen;
    mapping(bytes32 id => OnChainWithdraw) private _kept;
    uint96 public nonce = 1;
    bool public isPaused;
    bool public trackWithdrawsOnChain = true;

    error BoringOnChainQueue__Paused();
    error BoringOnChainQueue__WithdrawsNotAllowedForAsset();
    error BoringOnChainQueue__BadDiscount();
    error BoringOnChainQueue__BadShareAmount();
    error BoringOnChainQueue__BadDeadline();
    error BoringOnChainQueue__BadUser();
    error BoringOnChainQueue__DeadlinePassed();
    error BoringOnChainQueue__NotMatured();
    error BoringOnChainQueue__RequestNotFound();
    error BoringOnChainQueue__ZeroNonce();

    event OnChainWithdrawRequested(
        bytes32 indexed requestId,
        address indexed user,
        address indexed assetOut,
        uint96 nonce,
        uint128 amountOfShares,
        uint128 amountOfAssets,
        uint40 creationTime,
        uint24 secondsToMaturity,
        uint24 secondsToDeadline
    );
    event OnChainWithdrawCancelled(bytes32 indexed requestId, address indexed user, uint256 timestamp);
    event OnChainWithdrawSolved(bytes32 indexed requestId, address indexed user, uint256 timestamp);

    modifier onlyOwner() {
        require(msg.sender == owner, "UNAUTHORIZED");
        _;
    }

    constructor(VedaVault vault, VedaAccountant accountant_) {
        (boringVault, accountant) = (vault, accountant_);
    }

    function setWithdrawAsset(address asset, WithdrawAsset calldata terms) external onlyOwner {
        withdrawAssets[asset] = terms;
    }

    function setPaused(bool isPaused_) external onlyOwner {
        isPaused = isPaused_;
    }

    function setTrackWithdrawsOnChain(bool isTracked) external onlyOwner {
        trackWithdrawsOnChain = isTracked;
    }

    function requestOnChainWithdraw(address assetOut, uint128 amountOfShares, uint16 discount, uint24 secondsToDeadline)
        external
        returns (bytes32)
    {
        _check(assetOut, amountOfShares, discount, secondsToDeadline);
        IERC20(address(boringVault)).safeTransferFrom(msg.sender, address(this), amountOfShares);
        return _open(msg.sender, assetOut, amountOfShares, discount, secondsToDeadline);
    }

    function cancelOnChainWithdraw(OnChainWithdraw calldata request) external returns (bytes32) {
        return _cancelOwn(request);
    }

    function cancelOnChainWithdrawUsingRequestId(bytes32 requestId) external returns (OnChainWithdraw memory request) {
        request = getOnChainWithdraw(requestId);
        _cancelOwn(request);
    }

    function cancelUserWithdraws(OnChainWithdraw[] calldata requests) external onlyOwner {
        for (uint256 i; i < requests.length; ++i) _cancel(requests[i]);
    }

    function replaceOnChainWithdraw(OnChainWithdraw calldata old, uint16 discount, uint24 secondsToDeadline)
        external
        returns (bytes32 oldId, bytes32 newId)
    {
        if (old.user != msg.sender) revert BoringOnChainQueue__BadUser();
        _check(old.assetOut, old.amountOfShares, discount, secondsToDeadline);
        oldId = _close(old);
        emit OnChainWithdrawCancelled(oldId, old.user, block.timestamp);
        newId = _open(old.user, old.assetOut, old.amountOfShares, discount, secondsToDeadline);
    }

    /// @notice The solver gets the shares of all requests, and pays each of them.
    function solveOnChainWithdraws(OnChainWithdraw[] calldata requests, bytes calldata, address solver)
        external
        onlyOwner
    {
        if (isPaused) revert BoringOnChainQueue__Paused();
        uint256 shares;
        for (uint256 i; i < requests.length; ++i) {
            uint256 maturity = requests[i].creationTime + requests[i].secondsToMaturity;
            if (block.timestamp < maturity) revert BoringOnChainQueue__NotMatured();
            if (block.timestamp > maturity + requests[i].secondsToDeadline) revert BoringOnChainQueue__DeadlinePassed();
            shares += requests[i].amountOfShares;
            emit OnChainWithdrawSolved(_close(requests[i]), requests[i].user, block.timestamp);
        }
        IERC20(address(boringVault)).safeTransfer(solver, shares);
        for (uint256 i; i < requests.length; ++i) {
            IERC20(requests[i].assetOut).safeTransferFrom(solver, requests[i].user, requests[i].amountOfAssets);
        }
    }

    function getOnChainWithdraw(bytes32 requestId) public view returns (OnChainWithdraw memory) {
        if (_kept[requestId].nonce == 0) revert BoringOnChainQueue__ZeroNonce();
        return _kept[requestId];
    }

    function _check(address asset, uint128 shares, uint16 discount, uint24 secondsToDeadline) private view {
        WithdrawAsset memory terms = withdrawAssets[asset];
        if (isPaused) revert BoringOnChainQueue__Paused();
        if (!terms.allowWithdraws) revert BoringOnChainQueue__WithdrawsNotAllowedForAsset();
        if (discount < terms.minDiscount || discount > terms.maxDiscount) revert BoringOnChainQueue__BadDiscount();
        if (shares < terms.minimumShares) revert BoringOnChainQueue__BadShareAmount();
        if (secondsToDeadline < terms.minimumSecondsToDeadline) revert BoringOnChainQueue__BadDeadline();
    }

    function _open(address user, address asset, uint128 shares, uint16 discount, uint24 secondsToDeadline)
        private
        returns (bytes32 id)
    {
        uint256 price = accountant.getRateInQuoteSafe(asset) * (10_000 - discount) / 10_000;
        OnChainWithdraw memory request = OnChainWithdraw(
            nonce++,
            user,
            asset,
            shares,
            uint128(uint256(shares) * price / 10 ** boringVault.decimals()),
            uint40(block.timestamp),
            withdrawAssets[asset].secondsToMaturity,
            secondsToDeadline
        );
        id = keccak256(abi.encode(request));
        if (trackWithdrawsOnChain) _kept[id] = request;
        _isOpen[id] = true;
        emit OnChainWithdrawRequested(
            id,
            user,
            asset,
            request.nonce,
            shares,
            request.amountOfAssets,
            request.creationTime,
            request.secondsToMaturity,
            secondsToDeadline
        );
    }

    function _cancelOwn(OnChainWithdraw memory request) private returns (bytes32) {
        if (request.user != msg.sender) revert BoringOnChainQueue__BadUser();
        return _cancel(request);
    }

    function _cancel(OnChainWithdraw memory request) private returns (bytes32 id) {
        id = _close(request);
        IERC20(address(boringVault)).safeTransfer(request.user, request.amountOfShares);
        emit OnChainWithdrawCancelled(id, request.user, block.timestamp);
    }

    function _close(OnChainWithdraw memory request) private returns (bytes32 id) {
        id = keccak256(abi.encode(request));
        if (!_isOpen[id]) revert BoringOnChainQueue__RequestNotFound();
        delete _isOpen[id];
        delete _kept[id];
    }
}
