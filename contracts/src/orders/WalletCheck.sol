// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

interface ISafe {
    function getStorageAt(uint256 offset, uint256 length) external view returns (bytes memory);
}

/// @notice Reverts where a Safe does not run the code that it ran when a settlement of its order was simulated, before it is
/// asked for anything. It is its constructor alone and leaves no code behind.
contract WalletCheck {
    error Changed();

    /// @dev `keccak256("fallback_manager.handler.address")`
    uint256 private constant HANDLER_SLOT = 0x6c9a6c4a39284e37ed1cf53d337577d14212a4870fb976a4366c693b939918d5;
    /// @dev `masterCopy()`: a proxy answers it itself, without the code it delegates to.
    bytes4 private constant MASTER_COPY = 0xa619486e;

    /// @param sender Who alone may make it: made by somebody else before, it would make the settlement revert.
    constructor(address sender, address wallet, bytes32 codeHash, address singleton, address handler) {
        if (tx.origin != sender || wallet.codehash != codeHash) revert Changed();
        (, bytes memory told) = wallet.staticcall(abi.encodeWithSelector(MASTER_COPY));
        if (told.length != 32 || abi.decode(told, (uint256)) != uint160(singleton)) revert Changed();
        bytes memory word = ISafe(wallet).getStorageAt(HANDLER_SLOT, 1);
        if (abi.decode(word, (uint256)) != uint160(handler)) revert Changed();
        assembly {
            return(0, 0)
        }
    }
}
