// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @dev A token that does what it is told to: refuse by false, take more than was sent, lie about balances, call back.
contract HostileToken is ERC20("Hostile", "HOST") {
    bool private _returnsFalse;
    uint256 private _extraTaken;
    mapping(address account => uint256) private _faked;
    address private _target;
    bytes private _data;
    bool private _swallows;
    bool private _calledBack;
    bytes private _answer;

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @dev From now on transfers do nothing and return false.
    function returnFalse() external {
        _returnsFalse = true;
    }

    /// @dev From now on every transfer takes `amount` more from its sender.
    function takeMore(uint256 amount) external {
        _extraTaken = amount;
    }

    /// @dev From now on `account` seems to hold `amount` more.
    function fakeBalance(address account, uint256 amount) external {
        _faked[account] = amount;
    }

    /// @dev The next transfer first calls `target`; a revert of that call is swallowed, or passed on.
    function callBack(address target, bytes calldata data, bool swallows) external {
        _target = target;
        _data = data;
        _swallows = swallows;
    }

    /// @dev Whether the call back succeeded, and what it returned or reverted with.
    function lastCallBack() external view returns (bool, bytes memory) {
        return (_calledBack, _answer);
    }

    /// @dev Calls anything, so that the token can be a user or an admin itself.
    function execute(address target, bytes calldata data) external {
        _call(target, data, false);
    }

    function balanceOf(address account) public view override returns (uint256) {
        unchecked {
            return super.balanceOf(account) + _faked[account];
        }
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        return _returnsFalse ? false : super.transfer(to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        return _returnsFalse ? false : super.transferFrom(from, to, amount);
    }

    function _update(address from, address to, uint256 amount) internal override {
        if (_target != address(0)) {
            address target = _target;
            _target = address(0);
            _call(target, _data, _swallows);
        }
        if (from != address(0) && _extraTaken > 0) super._update(from, address(0), _extraTaken);
        super._update(from, to, amount);
    }

    function _call(address target, bytes memory data, bool swallows) private {
        (_calledBack, _answer) = target.call(data);
        if (!_calledBack && !swallows) {
            bytes memory answer = _answer;
            assembly ("memory-safe") {
                revert(add(answer, 32), mload(answer))
            }
        }
    }
}
