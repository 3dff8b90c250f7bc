// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// @title A staked token with the published behaviour of stETH, for tests
/// @notice Balances are shares of the pooled ether and change with every report. An amount is rounded down to shares, so
/// what arrives may be a unit or two less than what was sent.
contract StakedToken is IERC20Metadata, Ownable {
    string public constant name = "Liquid staked Ether 2.0";
    string public constant symbol = "stETH";
    uint8 public constant decimals = 18;

    uint256 private _pooled;
    uint256 private _totalShares;
    mapping(address account => uint256) private _shares;
    mapping(address account => mapping(address spender => uint256)) private _allowances;

    event Submitted(address indexed sender, uint256 amount, address referral);
    event TransferShares(address indexed from, address indexed to, uint256 sharesValue);

    constructor() Ownable(msg.sender) {}

    /// @notice Stakes what is sent along.
    function submit(address referral) external payable returns (uint256 shares) {
        require(msg.value != 0, "ZERO_DEPOSIT");
        shares = _totalShares == 0 ? msg.value : getSharesByPooledEth(msg.value);
        _pooled += msg.value;
        _totalShares += shares;
        _shares[msg.sender] += shares;
        emit Submitted(msg.sender, msg.value, referral);
        _emitTransfer(address(0), msg.sender, getPooledEthByShares(shares), shares);
    }

    /// @notice What the oracle found: all balances follow, up or down.
    function report(uint256 pooled) external onlyOwner {
        _pooled = pooled;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        _transfer(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        uint256 allowed = _allowances[from][msg.sender];
        if (allowed != type(uint256).max) {
            require(allowed >= amount, "ALLOWANCE_EXCEEDED");
            _approve(from, msg.sender, allowed - amount);
        }
        _transfer(from, to, amount);
        return true;
    }

    function transferShares(address to, uint256 shares) external returns (uint256 amount) {
        _transferShares(msg.sender, to, shares);
        amount = getPooledEthByShares(shares);
        _emitTransfer(msg.sender, to, amount, shares);
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        _approve(msg.sender, spender, amount);
        return true;
    }

    function allowance(address owner, address spender) external view returns (uint256) {
        return _allowances[owner][spender];
    }

    function balanceOf(address account) external view returns (uint256) {
        return getPooledEthByShares(_shares[account]);
    }

    function sharesOf(address account) external view returns (uint256) {
        return _shares[account];
    }

    function totalSupply() external view returns (uint256) {
        return _pooled;
    }

    function getTotalShares() external view returns (uint256) {
        return _totalShares;
    }

    function getSharesByPooledEth(uint256 amount) public view returns (uint256) {
        return Math.mulDiv(amount, _totalShares, _pooled);
    }

    function getPooledEthByShares(uint256 shares) public view returns (uint256) {
        return _totalShares == 0 ? 0 : Math.mulDiv(shares, _pooled, _totalShares);
    }

    function _transfer(address from, address to, uint256 amount) private {
        uint256 shares = getSharesByPooledEth(amount);
        _transferShares(from, to, shares);
        _emitTransfer(from, to, amount, shares);
    }

    function _transferShares(address from, address to, uint256 shares) private {
        require(to != address(0), "TRANSFER_TO_ZERO_ADDR");
        require(to != address(this), "TRANSFER_TO_STETH_CONTRACT");
        require(shares <= _shares[from], "BALANCE_EXCEEDED");
        _shares[from] -= shares;
        _shares[to] += shares;
    }

    function _approve(address owner, address spender, uint256 amount) private {
        require(spender != address(0), "APPROVE_TO_ZERO_ADDR");
        _allowances[owner][spender] = amount;
        emit Approval(owner, spender, amount);
    }

    function _emitTransfer(address from, address to, uint256 amount, uint256 shares) private {
        emit Transfer(from, to, amount);
        emit TransferShares(from, to, shares);
    }
}
