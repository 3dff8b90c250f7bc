// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";

/// @dev The calls of Aave's pool that a static token makes.
interface ILendingPool {
    function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode) external;

    function withdraw(address asset, uint256 amount, address to) external returns (uint256);

    function getReserveNormalizedIncome(address asset) external view returns (uint256);
}

/// @title What wraps an aToken, with the published behaviour of Aave's StataTokenV2, for tests
/// @notice ERC-4626 over the token that is lent, at the rate of the market; it takes and pays the aToken too, by calls of
/// its own, which emit the same events. Its shares are the scaled balances of the aToken. It can be paused.
contract StaticAToken is ERC4626, Ownable, Pausable {
    using SafeERC20 for IERC20;

    uint256 private constant RAY = 1e27;

    ILendingPool public immutable POOL;
    IERC20 private immutable _aToken;

    error StaticATokenInvalidZeroShares();

    constructor(ILendingPool pool_, IERC20 asset_, IERC20 aToken_)
        ERC20("Static aToken", "stataToken")
        ERC4626(asset_)
        Ownable(msg.sender)
    {
        (POOL, _aToken) = (pool_, aToken_);
        asset_.forceApprove(address(pool_), type(uint256).max);
    }

    /// @notice Deposits the aToken. Who says more than there is deposits all of it: balances grow while one asks.
    function depositATokens(uint256 assets, address receiver) external returns (uint256 shares) {
        assets = Math.min(assets, _aToken.balanceOf(msg.sender));
        shares = previewDeposit(assets);
        _enter(msg.sender, receiver, assets, shares, false);
    }

    /// @notice Redeems into the aToken.
    function redeemATokens(uint256 shares, address receiver, address owner) external returns (uint256 assets) {
        assets = previewRedeem(shares);
        _leave(msg.sender, receiver, owner, assets, shares, false);
    }

    function setPaused(bool paused_) external onlyOwner {
        if (paused_) _pause();
        else _unpause();
    }

    function aToken() external view returns (address) {
        return address(_aToken);
    }

    function totalAssets() public view override returns (uint256) {
        return _convertToAssets(totalSupply(), Math.Rounding.Floor);
    }

    function maxDeposit(address) public view override returns (uint256) {
        return paused() ? 0 : type(uint256).max;
    }

    function maxMint(address account) public view override returns (uint256) {
        return maxDeposit(account);
    }

    function maxRedeem(address owner) public view override returns (uint256) {
        return paused() ? 0 : super.maxRedeem(owner);
    }

    function maxWithdraw(address owner) public view override returns (uint256) {
        return paused() ? 0 : super.maxWithdraw(owner);
    }

    function decimals() public view override returns (uint8) {
        return IERC20Metadata(address(_aToken)).decimals();
    }

    function _convertToShares(uint256 assets, Math.Rounding rounding) internal view override returns (uint256) {
        return Math.mulDiv(assets, RAY, _rate(), rounding);
    }

    function _convertToAssets(uint256 shares, Math.Rounding rounding) internal view override returns (uint256) {
        return Math.mulDiv(shares, _rate(), RAY, rounding);
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal override {
        _enter(caller, receiver, assets, shares, true);
    }

    function _withdraw(address caller, address receiver, address owner, uint256 assets, uint256 shares)
        internal
        override
    {
        _leave(caller, receiver, owner, assets, shares, true);
    }

    /// @dev Nothing moves while it is paused.
    function _update(address from, address to, uint256 value) internal override whenNotPaused {
        super._update(from, to, value);
    }

    function _enter(address caller, address receiver, uint256 assets, uint256 shares, bool lends) private {
        if (shares == 0) revert StaticATokenInvalidZeroShares();
        if (lends) {
            IERC20(asset()).safeTransferFrom(caller, address(this), assets);
            POOL.supply(asset(), assets, address(this), 0);
        } else {
            _aToken.safeTransferFrom(caller, address(this), assets);
        }
        _mint(receiver, shares);
        emit Deposit(caller, receiver, assets, shares);
    }

    function _leave(address caller, address receiver, address owner, uint256 assets, uint256 shares, bool unlends)
        private
    {
        if (caller != owner) _spendAllowance(owner, caller, shares);
        _burn(owner, shares);
        if (unlends) POOL.withdraw(asset(), assets, receiver);
        else _aToken.safeTransfer(receiver, assets);
        emit Withdraw(caller, receiver, owner, assets, shares);
    }

    function _rate() private view returns (uint256) {
        return POOL.getReserveNormalizedIncome(asset());
    }
}
