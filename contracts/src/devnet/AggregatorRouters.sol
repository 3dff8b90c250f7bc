// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

struct Call {
    address target;
    uint256 value;
    bytes data;
}

/// @title What an EnsoRouter runs the calls of a route in
contract EnsoShortcuts {
    receive() external payable {}

    function run(Call[] calldata calls) external payable {
        for (uint256 i; i < calls.length; ++i) {
            (bool ok, bytes memory returned) = calls[i].target.call{value: calls[i].value}(calls[i].data);
            if (!ok) {
                assembly {
                    revert(add(returned, 32), mload(returned))
                }
            }
        }
    }
}

/// @title A router with the interface of Enso's, for tests
contract EnsoRouter {
    using SafeERC20 for IERC20;

    /// @param tokenType 0: the native token, data is its amount; 1: an ERC-20, data is its address and amount.
    struct Token {
        uint8 tokenType;
        bytes data;
    }

    error AmountTooLow(address token);
    error WrongMsgValue(uint256 value, uint256 expected);

    EnsoShortcuts public immutable shortcuts = new EnsoShortcuts();

    function routeSingle(Token calldata tokenIn, bytes calldata data) public payable returns (bytes memory response) {
        uint256 value;
        if (tokenIn.tokenType == 0) {
            value = abi.decode(tokenIn.data, (uint256));
        } else {
            (IERC20 token, uint256 amount) = abi.decode(tokenIn.data, (IERC20, uint256));
            token.safeTransferFrom(msg.sender, address(shortcuts), amount);
        }
        if (msg.value != value) revert WrongMsgValue(msg.value, value);
        bool ok;
        (ok, response) = address(shortcuts).call{value: value}(data);
        if (!ok) {
            assembly {
                revert(add(response, 32), mload(response))
            }
        }
    }

    function safeRouteSingle(Token calldata tokenIn, Token calldata tokenOut, address receiver, bytes calldata data)
        external
        payable
        returns (bytes memory response)
    {
        (address token, uint256 least) = tokenOut.tokenType == 0
            ? (address(0), abi.decode(tokenOut.data, (uint256)))
            : abi.decode(tokenOut.data, (address, uint256));
        uint256 before = _balance(token, receiver);
        response = routeSingle(tokenIn, data);
        if (_balance(token, receiver) - before < least) revert AmountTooLow(token);
    }

    function _balance(address token, address holder) private view returns (uint256) {
        return token == address(0) ? holder.balance : IERC20(token).balanceOf(holder);
    }
}

/// @title A router with the interface of LI.FI's swaps within a chain, for tests
contract LifiRouter {
    using SafeERC20 for IERC20;

    struct SwapData {
        address callTo;
        address approveTo;
        address sendingAssetId;
        address receivingAssetId;
        uint256 fromAmount;
        bytes callData;
        bool requiresDeposit;
    }

    error CumulativeSlippageTooHigh(uint256 minAmount, uint256 receivedAmount);

    receive() external payable {}

    function swapTokensSingleV3ERC20ToERC20(
        bytes32,
        string calldata,
        string calldata,
        address payable receiver,
        uint256 minAmountOut,
        SwapData calldata swapData
    ) external {
        _take(swapData);
        _swap(swapData);
        _give(swapData.receivingAssetId, receiver, minAmountOut);
    }

    function swapTokensSingleV3ERC20ToNative(
        bytes32,
        string calldata,
        string calldata,
        address payable receiver,
        uint256 minAmountOut,
        SwapData calldata swapData
    ) external {
        _take(swapData);
        _swap(swapData);
        _give(address(0), receiver, minAmountOut);
    }

    function swapTokensSingleV3NativeToERC20(
        bytes32,
        string calldata,
        string calldata,
        address payable receiver,
        uint256 minAmountOut,
        SwapData calldata swapData
    ) external payable {
        _swap(swapData);
        _give(swapData.receivingAssetId, receiver, minAmountOut);
    }

    function swapTokensMultipleV3ERC20ToERC20(
        bytes32,
        string calldata,
        string calldata,
        address payable receiver,
        uint256 minAmountOut,
        SwapData[] calldata swapData
    ) external {
        for (uint256 i; i < swapData.length; ++i) {
            if (swapData[i].requiresDeposit) _take(swapData[i]);
            _swap(swapData[i]);
        }
        _give(swapData[swapData.length - 1].receivingAssetId, receiver, minAmountOut);
    }

    function _take(SwapData calldata swapData) private {
        IERC20(swapData.sendingAssetId).safeTransferFrom(msg.sender, address(this), swapData.fromAmount);
    }

    function _swap(SwapData calldata swapData) private {
        bool isNative = swapData.sendingAssetId == address(0);
        if (!isNative) IERC20(swapData.sendingAssetId).forceApprove(swapData.approveTo, swapData.fromAmount);
        (bool ok, bytes memory returned) =
            swapData.callTo.call{value: isNative ? swapData.fromAmount : 0}(swapData.callData);
        if (!ok) {
            assembly {
                revert(add(returned, 32), mload(returned))
            }
        }
    }

    function _give(address token, address payable receiver, uint256 least) private {
        uint256 received = token == address(0) ? address(this).balance : IERC20(token).balanceOf(address(this));
        if (received < least) revert CumulativeSlippageTooHigh(least, received);
        if (token == address(0)) Address.sendValue(receiver, received);
        else IERC20(token).safeTransfer(receiver, received);
    }
}
