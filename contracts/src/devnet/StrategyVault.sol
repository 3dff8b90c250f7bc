// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC4626} from "@openzeppelin/contracts/interfaces/IERC4626.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// @title A vault that invests everything in another vault, for tests
/// @notice What can be withdrawn is bounded by what the other vault gives back, and `maxRedeem` is made from that: a
/// little below what a wallet holds while the other vault accrues. Redeeming everything works.
contract StrategyVault is ERC4626 {
    IERC4626 private immutable _strategy;
    uint8 private immutable _offset;

    constructor(IERC4626 strategy_, uint8 decimalsOffset_)
        ERC20("Strategy vault", "sTUSD")
        ERC4626(IERC20(strategy_.asset()))
    {
        _strategy = strategy_;
        _offset = decimalsOffset_;
        IERC20(strategy_.asset()).approve(address(strategy_), type(uint256).max);
    }

    function redeem(uint256 shares, address receiver, address owner) public override returns (uint256 assets) {
        assets = previewRedeem(shares);
        _withdraw(msg.sender, receiver, owner, assets, shares);
    }

    function totalAssets() public view override returns (uint256) {
        return _strategy.previewRedeem(_strategy.balanceOf(address(this)));
    }

    function maxWithdraw(address owner) public view override returns (uint256) {
        uint256 owned = _convertToAssets(balanceOf(owner), Math.Rounding.Floor);
        return Math.min(owned, _strategy.maxWithdraw(address(this)));
    }

    function maxRedeem(address owner) public view override returns (uint256) {
        return _convertToShares(maxWithdraw(owner), Math.Rounding.Floor);
    }

    function _deposit(address caller, address receiver, uint256 assets, uint256 shares) internal override {
        super._deposit(caller, receiver, assets, shares);
        _strategy.deposit(assets, address(this));
    }

    function _withdraw(address caller, address receiver, address owner, uint256 assets, uint256 shares)
        internal
        override
    {
        _strategy.withdraw(assets, address(this), address(this));
        super._withdraw(caller, receiver, owner, assets, shares);
    }

    function _decimalsOffset() internal view override returns (uint8) {
        return _offset;
    }
}
