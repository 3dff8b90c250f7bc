// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title A stake with the published behaviour of stkGHO and stkAAVE, for tests
/// @notice No ERC-4626. A cooldown is started for the whole balance, takes no shares, and opens a window in which as many
/// may be redeemed. A further one begins anew. After a slashing, until it is settled, shares are redeemed without one and
/// nothing is staked. It refuses by text.
contract WindowStake is ERC20, Ownable {
    using SafeERC20 for IERC20;

    struct CooldownSnapshot {
        uint40 timestamp;
        uint216 amount;
    }

    uint256 private constant RATE_UNIT = 1e18;

    // The names are those of the published contracts.
    IERC20 public immutable STAKED_TOKEN;
    uint256 public immutable UNSTAKE_WINDOW;
    uint8 private immutable _decimals;

    mapping(address account => CooldownSnapshot) public stakersCooldowns;
    bool public inPostSlashingPeriod;
    uint256 private _cooldownSeconds;
    uint216 private _rate = uint216(RATE_UNIT);

    event Staked(address indexed from, address indexed to, uint256 assets, uint256 shares);
    event Redeem(address indexed from, address indexed to, uint256 assets, uint256 shares);
    event Cooldown(address indexed user, uint256 amount);
    event ExchangeRateChanged(uint216 exchangeRate);
    event Slashed(address indexed destination, uint256 amount);
    event SlashingSettled();

    constructor(IERC20 token_, string memory name_, string memory symbol_, uint256 cooldown_, uint256 window_)
        ERC20(name_, symbol_)
        Ownable(msg.sender)
    {
        (STAKED_TOKEN, UNSTAKE_WINDOW, _cooldownSeconds) = (token_, window_, cooldown_);
        _decimals = IERC20Metadata(address(token_)).decimals();
    }

    function stake(address to, uint256 amount) external {
        require(!inPostSlashingPeriod, "SLASHING_ONGOING");
        require(amount != 0, "INVALID_ZERO_AMOUNT");
        uint256 shares = previewStake(amount);
        STAKED_TOKEN.safeTransferFrom(msg.sender, address(this), amount);
        _mint(to, shares);
        emit Staked(msg.sender, to, amount, shares);
    }

    /// @notice Starts a cooldown of all the caller has.
    function cooldown() external {
        uint256 amount = balanceOf(msg.sender);
        require(amount != 0, "INVALID_BALANCE_ON_COOLDOWN");
        stakersCooldowns[msg.sender] = CooldownSnapshot(uint40(block.timestamp), uint216(amount));
        emit Cooldown(msg.sender, amount);
    }

    /// @notice Redeems shares, as many as the cooldown was started for at most.
    function redeem(address to, uint256 amount) external {
        require(amount != 0, "INVALID_ZERO_AMOUNT");
        CooldownSnapshot memory started = stakersCooldowns[msg.sender];
        if (!inPostSlashingPeriod) {
            uint256 over = started.timestamp + _cooldownSeconds;
            require(block.timestamp >= over, "INSUFFICIENT_COOLDOWN");
            require(block.timestamp - over <= UNSTAKE_WINDOW, "UNSTAKE_WINDOW_FINISHED");
        }
        uint256 most = inPostSlashingPeriod ? balanceOf(msg.sender) : started.amount;
        require(most != 0, "INVALID_ZERO_MAX_REDEEMABLE");
        uint256 shares = amount > most ? most : amount;
        uint256 assets = previewRedeem(shares);
        _burn(msg.sender, shares);
        STAKED_TOKEN.safeTransfer(to, assets);
        emit Redeem(msg.sender, to, assets, shares);
    }

    /// @notice Takes from all stakers alike.
    function slash(address destination, uint256 amount) external onlyOwner {
        inPostSlashingPeriod = true;
        uint256 left = STAKED_TOKEN.balanceOf(address(this)) - amount;
        _setRate(uint216((RATE_UNIT * totalSupply() + left - 1) / left));
        STAKED_TOKEN.safeTransfer(destination, amount);
        emit Slashed(destination, amount);
    }

    function settleSlashing() external onlyOwner {
        inPostSlashingPeriod = false;
        emit SlashingSettled();
    }

    /// @notice Gives to all stakers alike.
    function returnFunds(uint256 amount) external {
        STAKED_TOKEN.safeTransferFrom(msg.sender, address(this), amount);
        _setRate(uint216((RATE_UNIT * totalSupply()) / STAKED_TOKEN.balanceOf(address(this))));
    }

    function previewStake(uint256 assets) public view returns (uint256) {
        return (assets * _rate) / RATE_UNIT;
    }

    function previewRedeem(uint256 shares) public view returns (uint256) {
        return (RATE_UNIT * shares) / _rate;
    }

    function getExchangeRate() external view returns (uint216) {
        return _rate;
    }

    function getCooldownSeconds() external view returns (uint256) {
        return _cooldownSeconds;
    }

    function decimals() public view override returns (uint8) {
        return _decimals;
    }

    function _setRate(uint216 rate) private {
        _rate = rate;
        emit ExchangeRateChanged(rate);
    }

    /// @dev A cooldown is never for more than its owner has left.
    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, value);
        CooldownSnapshot storage started = stakersCooldowns[from];
        if (from == address(0) || from == to || started.timestamp == 0) return;
        if (to == address(0)) started.amount -= uint216(value > started.amount ? started.amount : value);
        uint256 left = balanceOf(from);
        if (left < started.amount) started.amount = uint216(left);
        if (started.amount == 0) delete stakersCooldowns[from];
    }
}
