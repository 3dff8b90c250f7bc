// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {TestToken} from "./TestToken.sol";

/// @title What vaults that lend have in common, for tests: interest of the time passed is booked by the next interaction
/// @notice Between interactions only the views grow. No call asks `max*`: what the vault cannot do reverts where it
/// cannot be done, as in the vaults this stands for.
abstract contract AccruingVault is ERC4626 {
    uint256 private constant WAD = 1e18;

    uint8 private immutable _offset;
    uint256 private immutable _ratePerSecondWad;
    uint256 private _booked;
    uint256 private _bookedAt;

    /// @notice Interest was booked and minted.
    event InterestBooked(uint256 assets);

    /// @param asset_ a {TestToken} of which this vault will be a minter.
    /// @param decimalsOffset_ share decimals = asset decimals + this.
    /// @param ratePerSecondWad_ growth a second, 1e18 = 100 %.
    constructor(IERC20 asset_, uint8 decimalsOffset_, uint256 ratePerSecondWad_)
        ERC20("Accruing vault", "aTUSD")
        ERC4626(asset_)
    {
        _offset = decimalsOffset_;
        _ratePerSecondWad = ratePerSecondWad_;
        _bookedAt = block.timestamp;
    }

    /// @notice Books the interest of the time passed; anybody may.
    function accrue() external {
        _accrue();
    }

    function deposit(uint256 assets, address receiver) public virtual override returns (uint256 shares) {
        shares = previewDeposit(assets);
        _deposit(msg.sender, receiver, assets, shares);
    }

    function redeem(uint256 shares, address receiver, address owner) public virtual override returns (uint256 assets) {
        assets = previewRedeem(shares);
        _withdraw(msg.sender, receiver, owner, assets, shares);
    }

    function totalAssets() public view override returns (uint256) {
        return _booked + _booked * _ratePerSecondWad * (block.timestamp - _bookedAt) / WAD;
    }

    /// @dev Called once for every second in which interest was booked.
    function _afterAccrual() internal virtual {}

    function _accrue() internal {
        if (block.timestamp == _bookedAt) return;
        uint256 grown = totalAssets() - _booked;
        _bookedAt = block.timestamp;
        _booked += grown;
        emit InterestBooked(grown);
        if (grown > 0) TestToken(asset()).mint(address(this), grown);
        _afterAccrual();
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal virtual override {
        _accrue();
        super._deposit(caller, receiver, assets, shares);
        _booked += assets;
    }

    function _withdraw(address caller, address receiver, address owner, uint256 assets, uint256 shares)
        internal
        virtual
        override
    {
        _accrue();
        _booked -= assets;
        super._withdraw(caller, receiver, owner, assets, shares);
    }

    function _decimalsOffset() internal view override returns (uint8) {
        return _offset;
    }
}
