// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A plain ERC-20 for development chains and tests
/// @notice Name, symbol and decimals are free; only the owner and the minters it names can mint.
contract TestToken is ERC20, Ownable {
    uint8 private immutable _decimals;
    mapping(address account => bool) private _minters;

    /// @notice The caller may not mint.
    error NotMinter(address caller);

    event MinterSet(address indexed account, bool allowed);

    constructor(string memory name_, string memory symbol_, uint8 decimals_) ERC20(name_, symbol_) Ownable(msg.sender) {
        _decimals = decimals_;
    }

    /// @notice Lets `account` mint, or stops it.
    function setMinter(address account, bool allowed) external onlyOwner {
        _minters[account] = allowed;
        emit MinterSet(account, allowed);
    }

    /// @notice Mints `amount` smallest units to `to`.
    function mint(address to, uint256 amount) external {
        if (!isMinter(msg.sender)) revert NotMinter(msg.sender);
        _mint(to, amount);
    }

    /// @notice Whether `account` may mint.
    function isMinter(address account) public view returns (bool) {
        return account == owner() || _minters[account];
    }

    function decimals() public view override returns (uint8) {
        return _decimals;
    }
}
