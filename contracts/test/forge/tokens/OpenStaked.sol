// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {OpenToken} from "./OpenToken.sol";

/// @dev An open token that has shares as well, one for one.
contract OpenStaked is OpenToken {
    function sharesOf(address account) external view returns (uint256) {
        return balanceOf(account);
    }

    function transferShares(address to, uint256 shares) external returns (uint256) {
        _transfer(msg.sender, to, shares);
        return shares;
    }
}
