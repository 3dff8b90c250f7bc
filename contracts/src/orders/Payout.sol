// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @notice Pays out what a swap gave to its address before it was made: an exact amount to one, all that lies beyond it to
/// another. Less than that amount reverts. It is its constructor alone and leaves no code behind.
contract Payout {
    constructor(IERC20 token, address settlement, uint256 amount, address receiver) {
        SafeERC20.safeTransfer(token, settlement, amount);
        uint256 rest = token.balanceOf(address(this));
        if (rest > 0) SafeERC20.safeTransfer(token, receiver, rest);
        assembly {
            return(0, 0)
        }
    }
}
