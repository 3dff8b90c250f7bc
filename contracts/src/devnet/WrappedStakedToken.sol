// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {StakedToken} from "./StakedToken.sol";

/// @title What wraps a {StakedToken}, with the published behaviour of wstETH, for tests
/// @notice A unit is a share of the staked token. It is wrapped and unwrapped for the caller alone, without a minimum,
/// and no event but the transfers tells of it.
contract WrappedStakedToken is ERC20("Wrapped liquid staked Ether 2.0", "wstETH") {
    StakedToken public immutable stETH;

    constructor(StakedToken stETH_) {
        stETH = stETH_;
    }

    function wrap(uint256 amount) external returns (uint256 wrapped) {
        require(amount > 0, "wstETH: can't wrap zero stETH");
        wrapped = stETH.getSharesByPooledEth(amount);
        _mint(msg.sender, wrapped);
        stETH.transferFrom(msg.sender, address(this), amount);
    }

    function unwrap(uint256 wrapped) external returns (uint256 amount) {
        require(wrapped > 0, "wstETH: zero amount unwrap not allowed");
        amount = stETH.getPooledEthByShares(wrapped);
        _burn(msg.sender, wrapped);
        stETH.transfer(msg.sender, amount);
    }

    function getWstETHByStETH(uint256 amount) external view returns (uint256) {
        return stETH.getSharesByPooledEth(amount);
    }

    function getStETHByWstETH(uint256 wrapped) external view returns (uint256) {
        return stETH.getPooledEthByShares(wrapped);
    }

    function stEthPerToken() external view returns (uint256) {
        return stETH.getPooledEthByShares(1 ether);
    }

    function tokensPerStEth() external view returns (uint256) {
        return stETH.getSharesByPooledEth(1 ether);
    }
}
