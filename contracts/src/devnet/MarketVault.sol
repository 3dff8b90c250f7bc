// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {AccruingVault} from "./AccruingVault.sol";

/// @title A vault over lending markets that can be left whole although it says otherwise, for tests
/// @notice `maxRedeem` is made from `maxWithdraw`, so it is rounded down twice and lies a little below what a wallet
/// holds once interest has made a share worth an odd number of units. Can be made illiquid.
contract MarketVault is AccruingVault {
    uint256 private _liquidity = type(uint256).max;

    /// @notice More was asked for than the markets can give back now.
    error NotEnoughLiquidity();

    event LiquiditySet(uint256 assets);

    constructor(IERC20 asset_, uint8 decimalsOffset_, uint256 ratePerSecondWad_)
        AccruingVault(asset_, decimalsOffset_, ratePerSecondWad_)
    {}

    /// @notice Most assets that one withdrawal can take from now on.
    function setLiquidity(uint256 assets) external {
        _liquidity = assets;
        emit LiquiditySet(assets);
    }

    function maxWithdraw(address owner) public view override returns (uint256) {
        return Math.min(_convertToAssets(balanceOf(owner), Math.Rounding.Floor), _liquidity);
    }

    function maxRedeem(address owner) public view override returns (uint256) {
        return _convertToShares(maxWithdraw(owner), Math.Rounding.Floor);
    }

    function _withdraw(address caller, address receiver, address owner, uint256 assets, uint256 shares)
        internal
        override
    {
        if (assets > _liquidity) revert NotEnoughLiquidity();
        super._withdraw(caller, receiver, owner, assets, shares);
    }
}
