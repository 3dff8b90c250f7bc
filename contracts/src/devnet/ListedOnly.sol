// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title What is met often and is no vault, for tests: it answers what tells it, and nothing else
contract ListedOnly is ERC20 {
    enum Sort {
        Market,
        RebasingOfMarket,
        RebasingOfStake,
        StakeWithWindow
    }

    address private immutable _asset;
    Sort private immutable _sort;

    error NotOfThisSort();

    constructor(address asset_, Sort sort_) ERC20("Listed only", "LIST") {
        (_asset, _sort) = (asset_, sort_);
    }

    modifier only(Sort sort) {
        if (_sort != sort) revert NotOfThisSort();
        _;
    }

    function baseToken() external view only(Sort.Market) returns (address) {
        return _asset;
    }

    function getUtilization() external view only(Sort.Market) returns (uint256) {
        return 0;
    }

    function UNDERLYING_ASSET_ADDRESS() external view only(Sort.RebasingOfMarket) returns (address) {
        return _asset;
    }

    function scaledTotalSupply() external view only(Sort.RebasingOfMarket) returns (uint256) {
        return 0;
    }

    function getPooledEthByShares(uint256 shares) external view only(Sort.RebasingOfStake) returns (uint256) {
        return shares;
    }

    function getTotalShares() external view only(Sort.RebasingOfStake) returns (uint256) {
        return 0;
    }

    function STAKED_TOKEN() external view only(Sort.StakeWithWindow) returns (address) {
        return _asset;
    }

    function getCooldownSeconds() external view only(Sort.StakeWithWindow) returns (uint256) {
        return 0;
    }
}
