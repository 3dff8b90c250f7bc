// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC20Pausable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Pausable.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title A stake with the published behaviour of Aave's Umbrella, for tests
/// @notice ERC-4626 over assets that it counts itself. A cooldown is started for the whole balance, takes no shares, and
/// opens a window in which as many may be redeemed; wait and window are those of its start. A slashing takes from all alike
/// and closes nothing.
contract UmbrellaStake is ERC4626, ERC20Pausable, Ownable {
    using SafeERC20 for IERC20;

    struct CooldownSnapshot {
        uint192 amount;
        uint32 endOfCooldown;
        uint32 withdrawalWindow;
    }

    uint256 public constant MIN_ASSETS_REMAINING = 1e6;

    mapping(address account => CooldownSnapshot) private _started;
    mapping(address owner => mapping(address operator => bool)) public isCooldownOperator;
    uint32 private _cooldownSeconds;
    uint32 private _windowSeconds;
    uint256 private _assets;

    error ZeroBalanceInStaking();
    error ZeroAmountSlashing();
    error ZeroFundsAvailable();
    error NotApprovedForCooldown(address owner, address spender);

    event StakerCooldownUpdated(address indexed user, uint256 amount, uint256 endOfCooldown, uint256 unstakeWindow);
    event CooldownOperatorSet(address indexed user, address indexed operator, bool flag);
    event Slashed(address indexed destination, uint256 amount);
    event CooldownChanged(uint256 oldCooldown, uint256 newCooldown);
    event UnstakeWindowChanged(uint256 oldUnstakeWindow, uint256 newUnstakeWindow);

    constructor(IERC20 asset_, string memory name_, string memory symbol_, uint32 cooldown_, uint32 window_)
        ERC20(name_, symbol_)
        ERC4626(asset_)
        Ownable(msg.sender)
    {
        setCooldown(cooldown_);
        setUnstakeWindow(window_);
    }

    /// @notice Starts a cooldown of all the caller has.
    function cooldown() external {
        _start(msg.sender);
    }

    /// @notice Starts it for somebody who allowed the caller to.
    function cooldownOnBehalfOf(address owner) external {
        if (!isCooldownOperator[owner][msg.sender]) revert NotApprovedForCooldown(owner, msg.sender);
        _start(owner);
    }

    function setCooldownOperator(address operator, bool flag) external {
        isCooldownOperator[msg.sender][operator] = flag;
        emit CooldownOperatorSet(msg.sender, operator, flag);
    }

    /// @notice Takes from all stakers alike, and leaves a little.
    function slash(address destination, uint256 amount) external onlyOwner returns (uint256 taken) {
        if (amount == 0) revert ZeroAmountSlashing();
        if (_assets <= MIN_ASSETS_REMAINING) revert ZeroFundsAvailable();
        uint256 most = _assets - MIN_ASSETS_REMAINING;
        taken = amount < most ? amount : most;
        _assets -= taken;
        IERC20(asset()).safeTransfer(destination, taken);
        emit Slashed(destination, taken);
    }

    function pause() external onlyOwner {
        _pause();
    }

    function unpause() external onlyOwner {
        _unpause();
    }

    function getStakerCooldown(address user) external view returns (CooldownSnapshot memory) {
        return _started[user];
    }

    function getCooldown() external view returns (uint256) {
        return _cooldownSeconds;
    }

    function getUnstakeWindow() external view returns (uint256) {
        return _windowSeconds;
    }

    function setCooldown(uint32 seconds_) public onlyOwner {
        emit CooldownChanged(_cooldownSeconds, seconds_);
        _cooldownSeconds = seconds_;
    }

    function setUnstakeWindow(uint32 seconds_) public onlyOwner {
        emit UnstakeWindowChanged(_windowSeconds, seconds_);
        _windowSeconds = seconds_;
    }

    function totalAssets() public view override returns (uint256) {
        return _assets;
    }

    function maxRedeem(address owner) public view override returns (uint256) {
        CooldownSnapshot memory started = _started[owner];
        bool isOpen = block.timestamp >= started.endOfCooldown
            && block.timestamp - started.endOfCooldown <= started.withdrawalWindow;
        return isOpen ? started.amount : 0;
    }

    function maxWithdraw(address owner) public view override returns (uint256) {
        return convertToAssets(maxRedeem(owner));
    }

    function decimals() public view override(ERC20, ERC4626) returns (uint8) {
        return super.decimals();
    }

    function _start(address from) private {
        uint256 amount = balanceOf(from);
        if (amount == 0) revert ZeroBalanceInStaking();
        _keep(from, CooldownSnapshot(uint192(amount), uint32(block.timestamp) + _cooldownSeconds, _windowSeconds));
    }

    function _keep(address from, CooldownSnapshot memory started) private {
        _started[from] = started;
        emit StakerCooldownUpdated(from, started.amount, started.endOfCooldown, started.withdrawalWindow);
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal override {
        super._deposit(caller, receiver, assets, shares);
        _assets += assets;
    }

    function _withdraw(address caller, address receiver, address owner, uint256 assets, uint256 shares)
        internal
        override
    {
        super._withdraw(caller, receiver, owner, assets, shares);
        _assets -= assets;
    }

    /// @dev While a cooldown or its window runs, it is for no more than its owner has left, and less by what is redeemed.
    function _update(address from, address to, uint256 value) internal override(ERC20, ERC20Pausable) {
        if (from != address(0) && from != to) {
            CooldownSnapshot memory started = _started[from];
            if (block.timestamp <= uint256(started.endOfCooldown) + started.withdrawalWindow) {
                uint256 held = balanceOf(from);
                uint256 before = started.amount;
                if (to == address(0)) started.amount -= uint192(value);
                else if (held - value < before) started.amount = uint192(held - value);
                if (started.amount == 0) (started.endOfCooldown, started.withdrawalWindow) = (0, 0);
                if (started.amount != before) _keep(from, started);
            }
        }
        super._update(from, to, value);
    }
}
