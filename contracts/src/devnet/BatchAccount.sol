// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC7821} from "@openzeppelin/contracts/account/extensions/draft-ERC7821.sol";

/// @title An account that runs batches on itself (ERC-7821), for development chains and tests
/// @notice Meant for EIP-7702: an externally owned account delegates to it and calls itself.
contract BatchAccount is ERC7821 {
    receive() external payable {}
}
