// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @dev Holds what is redeemed and cools down; the vault alone takes from it.
contract CooldownSilo {
    using SafeERC20 for IERC20;

    address private immutable _vault;
    IERC20 private immutable _token;

    error OnlyStakingVault();

    constructor(IERC20 token_) {
        (_vault, _token) = (msg.sender, token_);
    }

    function withdraw(address to, uint256 amount) external {
        if (msg.sender != _vault) revert OnlyStakingVault();
        _token.safeTransfer(to, amount);
    }
}

/// @title A staked token with the published behaviour of sUSDe and those after it, for tests
/// @notice While there is a cooldown, shares are burned when it starts, at the price of then; the assets wait in a silo
/// and are taken out, all at once, when it is over. A further cooldown makes what waits already wait anew. Without one
/// the vault redeems as any of ERC-4626 does.
contract CooldownVault is ERC4626, Ownable {
    struct UserCooldown {
        uint104 cooldownEnd;
        uint152 underlyingAmount;
    }

    uint24 public constant MAX_COOLDOWN_DURATION = 90 days;

    CooldownSilo public immutable silo;
    uint24 public cooldownDuration;
    mapping(address account => UserCooldown) public cooldowns;
    uint8 private immutable _offset;
    mapping(address account => bool) private _restricted;

    error OperationNotAllowed();
    error ExcessiveRedeemAmount();
    error ExcessiveWithdrawAmount();
    error InvalidCooldown();
    error InvalidAmount();

    event CooldownDurationUpdated(uint24 previousDuration, uint24 newDuration);
    event RestrictedSet(address indexed account, bool restricted);

    constructor(IERC20 asset_, string memory name_, string memory symbol_, uint8 offset_, uint24 duration_)
        ERC20(name_, symbol_)
        ERC4626(asset_)
        Ownable(msg.sender)
    {
        (_offset, cooldownDuration, silo) = (offset_, duration_, new CooldownSilo(asset_));
    }

    modifier ensureCooldownOff() {
        if (cooldownDuration != 0) revert OperationNotAllowed();
        _;
    }

    modifier ensureCooldownOn() {
        if (cooldownDuration == 0) revert OperationNotAllowed();
        _;
    }

    function setCooldownDuration(uint24 duration) external onlyOwner {
        if (duration > MAX_COOLDOWN_DURATION) revert InvalidCooldown();
        emit CooldownDurationUpdated(cooldownDuration, duration);
        cooldownDuration = duration;
    }

    /// @notice Whom the vault serves no more.
    function setRestricted(address account, bool restricted) external onlyOwner {
        _restricted[account] = restricted;
        emit RestrictedSet(account, restricted);
    }

    function withdraw(uint256 assets, address receiver, address owner)
        public
        override
        ensureCooldownOff
        returns (uint256)
    {
        return super.withdraw(assets, receiver, owner);
    }

    function redeem(uint256 shares, address receiver, address owner)
        public
        override
        ensureCooldownOff
        returns (uint256)
    {
        return super.redeem(shares, receiver, owner);
    }

    /// @notice Burns shares; their assets cool down.
    function cooldownShares(uint256 shares) external ensureCooldownOn returns (uint256 assets) {
        if (shares > maxRedeem(msg.sender)) revert ExcessiveRedeemAmount();
        assets = previewRedeem(shares);
        _start(assets, shares);
    }

    /// @notice The same by assets.
    function cooldownAssets(uint256 assets) external ensureCooldownOn returns (uint256 shares) {
        if (assets > maxWithdraw(msg.sender)) revert ExcessiveWithdrawAmount();
        shares = previewWithdraw(assets);
        _start(assets, shares);
    }

    /// @notice Takes out all that has cooled down; all there is where there is no cooldown any more.
    function unstake(address receiver) external {
        UserCooldown storage cooldown = cooldowns[msg.sender];
        if (block.timestamp < cooldown.cooldownEnd && cooldownDuration != 0) revert InvalidCooldown();
        uint256 assets = cooldown.underlyingAmount;
        (cooldown.cooldownEnd, cooldown.underlyingAmount) = (0, 0);
        silo.withdraw(receiver, assets);
    }

    function _start(uint256 assets, uint256 shares) private {
        UserCooldown storage cooldown = cooldowns[msg.sender];
        cooldown.cooldownEnd = uint104(block.timestamp) + cooldownDuration;
        cooldown.underlyingAmount += uint152(assets);
        _withdraw(msg.sender, address(silo), msg.sender, assets, shares);
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal override {
        if (assets == 0 || shares == 0) revert InvalidAmount();
        if (_restricted[caller] || _restricted[receiver]) revert OperationNotAllowed();
        super._deposit(caller, receiver, assets, shares);
    }

    function _withdraw(address caller, address receiver, address owner, uint256 assets, uint256 shares)
        internal
        override
    {
        if (assets == 0 || shares == 0) revert InvalidAmount();
        if (_restricted[caller] || _restricted[owner]) revert OperationNotAllowed();
        super._withdraw(caller, receiver, owner, assets, shares);
    }

    function _decimalsOffset() internal view override returns (uint8) {
        return _offset;
    }
}
