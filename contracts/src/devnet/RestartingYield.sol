// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC4626} from "@openzeppelin/contracts/interfaces/IERC4626.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title A vault of ERC-5115 over the shares of an ERC-4626 vault, one for one, for tests
/// @notice It takes and pays the asset of the vault, or its shares.
contract RestartingYield is ERC20 {
    using SafeERC20 for IERC20;

    IERC4626 private immutable _vault;
    IERC20 private immutable _asset;

    error InvalidToken(address token);
    error TooLittleOut(uint256 given, uint256 minimum);

    event Deposit(
        address indexed caller,
        address indexed receiver,
        address indexed tokenIn,
        uint256 amountDeposited,
        uint256 amountSyOut
    );
    event Redeem(
        address indexed caller,
        address indexed receiver,
        address indexed tokenOut,
        uint256 amountSyToRedeem,
        uint256 amountTokenOut
    );

    constructor(IERC4626 vault_) ERC20("Restarting yield", "rSY") {
        _vault = vault_;
        _asset = IERC20(vault_.asset());
        _asset.forceApprove(address(vault_), type(uint256).max);
    }

    function decimals() public view override returns (uint8) {
        return IERC20Metadata(address(_vault)).decimals();
    }

    function deposit(address receiver, address tokenIn, uint256 amountTokenToDeposit, uint256 minSharesOut)
        external
        returns (uint256 amountSharesOut)
    {
        if (!isValidTokenIn(tokenIn)) revert InvalidToken(tokenIn);
        IERC20(tokenIn).safeTransferFrom(msg.sender, address(this), amountTokenToDeposit);
        amountSharesOut = tokenIn == address(_asset)
            ? _vault.deposit(amountTokenToDeposit, address(this))
            : amountTokenToDeposit;
        if (amountSharesOut < minSharesOut) revert TooLittleOut(amountSharesOut, minSharesOut);
        _mint(receiver, amountSharesOut);
        emit Deposit(msg.sender, receiver, tokenIn, amountTokenToDeposit, amountSharesOut);
    }

    function redeem(
        address receiver,
        uint256 amountSharesToRedeem,
        address tokenOut,
        uint256 minTokenOut,
        bool burnFromInternalBalance
    ) external returns (uint256 amountTokenOut) {
        if (!isValidTokenIn(tokenOut)) revert InvalidToken(tokenOut);
        _burn(burnFromInternalBalance ? address(this) : msg.sender, amountSharesToRedeem);
        amountTokenOut = amountSharesToRedeem;
        if (tokenOut == address(_asset)) {
            amountTokenOut = _vault.redeem(amountSharesToRedeem, receiver, address(this));
        } else {
            IERC20(tokenOut).safeTransfer(receiver, amountTokenOut);
        }
        if (amountTokenOut < minTokenOut) revert TooLittleOut(amountTokenOut, minTokenOut);
        emit Redeem(msg.sender, receiver, tokenOut, amountSharesToRedeem, amountTokenOut);
    }

    function assetInfo() external view returns (uint8 assetType, address assetAddress, uint8 assetDecimals) {
        return (0, address(_asset), IERC20Metadata(address(_asset)).decimals());
    }

    /// @notice Smallest units of the asset for 1e18 smallest units of shares, as ERC-5115 has it.
    function exchangeRate() external view returns (uint256) {
        return _vault.convertToAssets(1e18);
    }

    function previewDeposit(address tokenIn, uint256 amount) external view returns (uint256 amountSharesOut) {
        return tokenIn == address(_asset) ? _vault.previewDeposit(amount) : amount;
    }

    function previewRedeem(address tokenOut, uint256 shares) external view returns (uint256 amountTokenOut) {
        return tokenOut == address(_asset) ? _vault.previewRedeem(shares) : shares;
    }

    function isValidTokenIn(address token) public view returns (bool) {
        return token == address(_asset) || token == address(_vault);
    }

    function isValidTokenOut(address token) external view returns (bool) {
        return isValidTokenIn(token);
    }

    function yieldToken() external view returns (address) {
        return address(_vault);
    }
}
