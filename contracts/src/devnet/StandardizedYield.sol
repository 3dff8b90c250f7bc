// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// @title A vault of ERC-5115 that takes and pays two tokens of equal worth, for development chains and tests
/// @notice Shares have 18 decimals. Whatever is sent to the vault beside deposits is yield.
contract StandardizedYield is ERC20 {
    using SafeERC20 for IERC20;

    IERC20 private immutable _first;
    IERC20 private immutable _second;

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

    constructor(IERC20 first_, IERC20 second_) ERC20("Standardized yield", "SY") {
        _first = first_;
        _second = second_;
    }

    function deposit(address receiver, address tokenIn, uint256 amountTokenToDeposit, uint256 minSharesOut)
        external
        returns (uint256 amountSharesOut)
    {
        amountSharesOut = previewDeposit(tokenIn, amountTokenToDeposit);
        if (amountSharesOut < minSharesOut) revert TooLittleOut(amountSharesOut, minSharesOut);
        _mint(receiver, amountSharesOut);
        emit Deposit(msg.sender, receiver, tokenIn, amountTokenToDeposit, amountSharesOut);
        IERC20(tokenIn).safeTransferFrom(msg.sender, address(this), amountTokenToDeposit);
    }

    function redeem(
        address receiver,
        uint256 amountSharesToRedeem,
        address tokenOut,
        uint256 minTokenOut,
        bool burnFromInternalBalance
    ) external returns (uint256 amountTokenOut) {
        amountTokenOut = previewRedeem(tokenOut, amountSharesToRedeem);
        if (amountTokenOut < minTokenOut) revert TooLittleOut(amountTokenOut, minTokenOut);
        _burn(burnFromInternalBalance ? address(this) : msg.sender, amountSharesToRedeem);
        emit Redeem(msg.sender, receiver, tokenOut, amountSharesToRedeem, amountTokenOut);
        IERC20(tokenOut).safeTransfer(receiver, amountTokenOut);
    }

    /// @notice What the rate is in: a token, which it is, and its decimals.
    function assetInfo() external view returns (uint8 assetType, address assetAddress, uint8 assetDecimals) {
        return (0, address(_first), IERC20Metadata(address(_first)).decimals());
    }

    /// @notice Smallest units of the first token for 1e18 smallest units of shares, as ERC-5115 has it.
    function exchangeRate() external view returns (uint256) {
        return _rate() / _unit(address(_first));
    }

    function previewDeposit(address tokenIn, uint256 amount) public view returns (uint256 amountSharesOut) {
        return Math.mulDiv(_scale(tokenIn, amount), 1e18, _rate());
    }

    function previewRedeem(address tokenOut, uint256 shares) public view returns (uint256 amountTokenOut) {
        return Math.mulDiv(shares, _rate(), 1e18) / _unit(tokenOut);
    }

    function isValidTokenIn(address token) public view returns (bool) {
        return token == address(_first) || token == address(_second);
    }

    function isValidTokenOut(address token) external view returns (bool) {
        return isValidTokenIn(token);
    }

    function yieldToken() external view returns (address) {
        return address(_first);
    }

    /// @dev What a whole share is worth, 1e18 = one whole token.
    function _rate() private view returns (uint256) {
        uint256 shares = totalSupply();
        return shares == 0 ? 1e18 : Math.mulDiv(_held(), 1e18, shares);
    }

    /// @dev All that is held, in 18 decimals.
    function _held() private view returns (uint256) {
        return _scale(address(_first), _first.balanceOf(address(this)))
            + _scale(address(_second), _second.balanceOf(address(this)));
    }

    function _scale(address token, uint256 amount) private view returns (uint256) {
        return amount * _unit(token);
    }

    function _unit(address token) private view returns (uint256) {
        if (!isValidTokenIn(token)) revert InvalidToken(token);
        return 10 ** (18 - IERC20Metadata(token).decimals());
    }
}
