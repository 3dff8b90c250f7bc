// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {LagoonRequests} from "./LagoonRequests.sol";

/// @title A vault with the published behaviour of Lagoon 0.5 and 0.6, for tests
/// @notice Requests of one epoch share an id (odd: deposits, even: redemptions) and wait in a silo. The owner names a
/// new valuation, which ends the epoch, and settles at it. While a valuation is valid, deposits (and in 0.6 redemptions)
/// complete at once and are not requested. A closed vault redeems at once. The owner is the safe, too.
contract LagoonVault is LagoonRequests {
    using SafeERC20 for IERC20;

    constructor(IERC20 asset_, string memory name_, string memory symbol_, uint8 offset_, bool isV6_)
        LagoonRequests(asset_, name_, symbol_, offset_, isV6_)
    {}

    // ---- what the owner does ----

    /// @notice Who may come in: everybody, or those listed.
    function setListed(bool listed, address[] calldata accounts) external onlyOwner {
        _listed = listed;
        for (uint256 i = 0; i < accounts.length; i++) _isListed[accounts[i]] = true;
        emit SettingsSet();
    }

    function setTerms(uint16 entryBps, uint16 exitBps, uint16 haircutBps, uint256 maxCap) external onlyOwner {
        (_entryBps, _exitBps, _haircutBps, _maxCap) = (entryBps, exitBps, haircutBps, maxCap);
        emit SettingsSet();
    }

    function setSyncRedeems(bool syncRedeems) external onlyOwner {
        _syncRedeems = syncRedeems;
        emit SettingsSet();
    }

    function setPaused(bool paused_) external onlyOwner {
        paused_ ? _pause() : _unpause();
    }

    /// @notice How long a valuation is valid from its settlement on; 0: never.
    function updateTotalAssetsLifespan(uint128 lifespan) external onlyOwner {
        _lifespan = lifespan;
        emit SettingsSet();
    }

    function expireTotalAssets() external onlyOwner {
        _validUntil = 0;
        emit SettingsSet();
    }

    /// @notice Names a valuation; what is pending belongs to it from now on.
    function updateNewTotalAssets(uint256 newTotalAssets) external onlyOwner whenNotPaused {
        if (_state == State.Closed) revert Closed();
        if (isTotalAssetsValid()) revert ValuationUpdateNotAllowed();
        _endEpoch(_deposits, IERC20(asset()).balanceOf(_silo));
        _endEpoch(_redeems, balanceOf(_silo));
        _newTotalAssets = newTotalAssets;
        emit NewTotalAssetsUpdated(newTotalAssets);
    }

    function settleDeposit(uint256 newTotalAssets) external onlyOwner onlyOpen {
        _updateTotalAssets(newTotalAssets);
        _settleDeposits();
        _settleRedeems();
    }

    function settleRedeem(uint256 newTotalAssets) external onlyOwner onlyOpen {
        _updateTotalAssets(newTotalAssets);
        _settleRedeems();
    }

    function initiateClosing() external onlyOwner onlyOpen {
        _state = State.Closing;
        emit StateUpdated(_state);
    }

    /// @notice The owner pays in all there is; from now on shares are redeemed at once.
    function close(uint256 newTotalAssets) external onlyOwner {
        if (_state != State.Closing) revert NotClosing(_state);
        _updateTotalAssets(newTotalAssets);
        _settleDeposits();
        _settleRedeems();
        _state = State.Closed;
        emit StateUpdated(_state);
        IERC20(asset()).safeTransferFrom(msg.sender, address(this), _totalAssets);
    }

    function claimSharesOnBehalf(address[] calldata controllers) external onlyOwner {
        for (uint256 i = 0; i < controllers.length; i++) {
            uint256 claimable = claimableDepositRequest(0, controllers[i]);
            if (claimable > 0) _claimDeposit(claimable, controllers[i], controllers[i]);
        }
    }

    function claimAssetsOnBehalf(address[] calldata controllers) external onlyOwner {
        for (uint256 i = 0; i < controllers.length; i++) {
            uint256 claimable = claimableRedeemRequest(0, controllers[i]);
            if (claimable > 0) _claimRedeem(claimable, controllers[i], controllers[i]);
        }
    }

    // ---- what wallets do ----

    function setOperator(address operator, bool approved) external whenNotPaused returns (bool) {
        _operators[msg.sender][operator] = approved;
        emit OperatorSet(msg.sender, operator, approved);
        return true;
    }

    function requestDeposit(uint256 assets, address controller, address owner) public payable returns (uint256) {
        return requestDeposit(assets, controller, owner, address(0));
    }

    function requestDeposit(uint256 assets, address controller, address owner, address referral)
        public
        payable
        whenNotPaused
        returns (uint256 requestId)
    {
        _assertOperator(owner);
        if (isTotalAssetsValid()) revert OnlySyncDepositAllowed();
        _assertAllowed(owner);
        if (msg.value != 0) revert CantDepositNativeToken();
        _assertUnderCap(assets);
        uint256 claimable = claimableDepositRequest(0, controller);
        if (claimable > 0) _claimDeposit(claimable, controller, controller);
        requestId = _open(_deposits, controller, pendingDepositRequest(0, controller));
        _epochs[requestId].requested[controller] += assets;
        IERC20(asset()).safeTransferFrom(owner, _silo, assets);
        emit DepositRequest(controller, owner, requestId, msg.sender, assets);
        if (referral != address(0)) emit Referral(referral, owner, requestId, assets);
    }

    function syncDeposit(uint256 assets, address receiver, address referral)
        external
        payable
        onlyOpen
        returns (uint256 shares)
    {
        if (!isTotalAssetsValid()) revert OnlyAsyncDepositAllowed();
        _assertAllowed(msg.sender);
        if (msg.value != 0) revert CantDepositNativeToken();
        _assertUnderCap(assets);
        IERC20(asset()).safeTransferFrom(msg.sender, owner(), assets);
        shares = _convertToShares(assets, Math.Rounding.Floor);
        uint256 fee = _feeOf(shares, _entryBps);
        _totalAssets += assets;
        shares -= fee;
        if (fee > 0) _mint(owner(), fee);
        _mint(receiver, shares);
        emit DepositSync(msg.sender, receiver, assets, shares);
        emit Referral(referral, msg.sender, 0, assets);
    }

    /// @notice From 0.6 on.
    function syncRedeem(uint256 shares, address receiver, uint256 minimumAssets)
        external
        onlyOpen
        returns (uint256 assets)
    {
        _assertV6();
        if (!isTotalAssetsValid()) revert OnlyAsyncDepositAllowed();
        if (!_syncRedeems) revert SyncRedeemNotAllowed();
        _assertAllowed(msg.sender);
        uint256 fee = _feeOf(shares, _exitBps);
        assets = _convertToAssets(shares - fee - _feeOf(shares - fee, _haircutBps), Math.Rounding.Floor);
        if (assets < minimumAssets) revert BelowMinimumAssets(assets, minimumAssets);
        _burn(msg.sender, shares);
        _totalAssets -= assets;
        IERC20(asset()).safeTransferFrom(owner(), receiver, assets);
        if (fee > 0) _mint(owner(), fee);
        emit WithdrawSync(msg.sender, receiver, msg.sender, assets, shares);
    }

    function requestRedeem(uint256 shares, address controller, address owner)
        public
        onlyOpen
        whenNotPaused
        returns (uint256 requestId)
    {
        _assertAllowed(owner);
        if (msg.sender != owner && !_operators[owner][msg.sender]) _spendAllowance(owner, msg.sender, shares);
        uint256 claimable = claimableRedeemRequest(0, controller);
        if (claimable > 0) _claimRedeem(claimable, controller, controller);
        requestId = _open(_redeems, controller, pendingRedeemRequest(0, controller));
        _epochs[requestId].requested[controller] += shares;
        _transfer(owner, _silo, shares);
        emit RedeemRequest(controller, owner, requestId, msg.sender, shares);
    }

    function claimSharesAndRequestRedeem(uint256 sharesToRedeem) external returns (uint40) {
        uint256 claimable = claimableDepositRequest(0, msg.sender);
        if (claimable > 0) _claimDeposit(claimable, msg.sender, msg.sender);
        return uint40(requestRedeem(sharesToRedeem, msg.sender, msg.sender));
    }

    /// @notice Only in the epoch of the request itself.
    function cancelRequestDeposit() external whenNotPaused {
        (uint256 id, uint256 assets) = _cancel(_deposits);
        IERC20(asset()).safeTransferFrom(_silo, msg.sender, assets);
        emit DepositRequestCanceled(id, msg.sender);
    }

    /// @notice From 0.6 on; only in the epoch of the request itself.
    function cancelRequestRedeem(address controller) external {
        _assertV6();
        if (controller != msg.sender) revert ERC7540InvalidOperator();
        (uint256 id, uint256 shares) = _cancel(_redeems);
        _transfer(_silo, msg.sender, shares);
        emit RedeemRequestCanceled(id, msg.sender, shares);
    }

    function deposit(uint256 assets, address receiver) public override returns (uint256) {
        return _claimDeposit(assets, receiver, msg.sender);
    }

    function deposit(uint256 assets, address receiver, address controller) external returns (uint256) {
        _assertOperator(controller);
        return _claimDeposit(assets, receiver, controller);
    }

    function redeem(uint256 shares, address receiver, address controller)
        public
        override
        whenNotPaused
        returns (uint256 assets)
    {
        if (_state == State.Closed && claimableRedeemRequest(0, controller) == 0) {
            assets = _convertToAssets(shares - _feeOf(shares, _exitBps), Math.Rounding.Floor);
            if (msg.sender != controller && !_operators[controller][msg.sender]) {
                _spendAllowance(controller, msg.sender, shares);
            }
            _totalAssets -= assets;
            _burn(controller, shares);
            IERC20(asset()).safeTransfer(receiver, assets);
            emit Withdraw(msg.sender, receiver, controller, assets, shares);
            return assets;
        }
        _assertOperator(controller);
        return _claimRedeem(shares, receiver, controller);
    }
}
