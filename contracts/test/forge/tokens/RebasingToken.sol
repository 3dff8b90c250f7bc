// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

/// @dev Balances are shares times an index, rounded down, as liquid staking tokens count them.
contract RebasingToken {
    uint256 private constant ONE = 1e18;
    uint256 private _index = ONE;
    mapping(address account => uint256) private _shares;
    mapping(address account => mapping(address spender => uint256)) private _allowances;

    function mint(address to, uint256 amount) external {
        _shares[to] += (amount * ONE) / _index;
    }

    /// @dev All balances are now shares × `index` / 10^18.
    function rebase(uint256 index) external {
        _index = index;
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

    function balanceOf(address account) external view returns (uint256) {
        return (_shares[account] * _index) / ONE;
    }

    function _move(address from, address to, uint256 amount) private {
        uint256 shares = (amount * ONE) / _index;
        _shares[from] -= shares;
        _shares[to] += shares;
    }
}
