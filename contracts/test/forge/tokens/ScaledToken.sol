// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {OpenToken} from "./OpenToken.sol";

/// @dev Balances are scaled by an index and rounded to the nearest, as those of Aave's aTokens are; the pool that lends it
/// too, over an open token.
contract ScaledToken {
    uint8 public constant decimals = 18;
    uint256 private constant RAY = 1e27;

    OpenToken private immutable _asset;
    uint256 private _index = RAY;
    mapping(address account => uint256) private _scaled;
    mapping(address account => mapping(address spender => uint256)) private _allowances;

    constructor(OpenToken asset_) {
        _asset = asset_;
    }

    function setIndex(uint256 index) external {
        _index = index;
    }

    function supply(address, uint256 amount, address to, uint16) external {
        _asset.transferFrom(msg.sender, address(this), amount);
        _scaled[to] += _scale(amount);
    }

    function withdraw(address, uint256 amount, address to) external returns (uint256) {
        _scaled[msg.sender] -= _scale(amount);
        // What has grown is minted.
        _asset.mint(to, amount);
        return amount;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        _allowances[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        _allowances[from][msg.sender] -= amount;
        _move(from, to, amount);
        return true;
    }

    function getReserveNormalizedIncome(address) external view returns (uint256) {
        return _index;
    }

    function allowance(address owner, address spender) external view returns (uint256) {
        return _allowances[owner][spender];
    }

    function balanceOf(address account) external view returns (uint256) {
        return (_scaled[account] * _index + RAY / 2) / RAY;
    }

    function scaledBalanceOf(address account) external view returns (uint256) {
        return _scaled[account];
    }

    function _move(address from, address to, uint256 amount) private {
        uint256 scaled = _scale(amount);
        _scaled[from] -= scaled;
        _scaled[to] += scaled;
    }

    function _scale(uint256 amount) private view returns (uint256) {
        return (amount * RAY + _index / 2) / _index;
    }
}
