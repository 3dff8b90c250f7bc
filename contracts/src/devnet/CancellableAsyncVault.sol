// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {AsyncVault} from "./AsyncVault.sol";

/// @title An asynchronous vault whose pending deposits are cancelled in two steps (ERC-7887), for development and tests
/// @notice The controller asks for the cancellation of all that is pending; the owner grants it; the assets are claimed.
contract CancellableAsyncVault is AsyncVault {
    bytes4 private constant CANCEL_DEPOSIT = 0x8bf840e3;

    struct Cancellation {
        uint256 pending;
        uint256 claimable;
    }

    mapping(address controller => mapping(uint256 id => Cancellation)) private _cancellations;

    /// @notice Nothing may be added to a request while its cancellation is pending.
    error CancellationPending();

    event CancelDepositRequest(address indexed controller, uint256 indexed requestId, address sender);
    event CancelDepositClaim(
        address indexed controller, address indexed receiver, uint256 indexed requestId, address sender, uint256 assets
    );

    constructor(IERC20 asset_, string memory name_, string memory symbol_, Settings memory settings)
        AsyncVault(asset_, name_, symbol_, settings)
    {}

    /// @notice Asks for the cancellation of all that is pending in a request.
    function cancelDepositRequest(uint256 requestId, address controller) external {
        _assertOperator(controller);
        _cancellations[controller][requestId].pending += _takePending(controller, requestId);
        emit CancelDepositRequest(controller, requestId, msg.sender);
    }

    /// @notice Grants a cancellation; the assets can be claimed from now on.
    function settleCancelDeposit(address controller, uint256 requestId) external onlyOwner {
        Cancellation storage cancellation = _cancellations[controller][requestId];
        if (cancellation.pending == 0) revert NothingRequested();
        cancellation.claimable += cancellation.pending;
        cancellation.pending = 0;
    }

    /// @notice Pays a granted cancellation.
    function claimCancelDepositRequest(uint256 requestId, address receiver, address controller) external {
        _assertOperator(controller);
        uint256 assets = _cancellations[controller][requestId].claimable;
        if (assets == 0) revert NothingRequested();
        _cancellations[controller][requestId].claimable = 0;
        emit CancelDepositClaim(controller, receiver, requestId, msg.sender, assets);
        _refund(receiver, assets);
    }

    function pendingCancelDepositRequest(uint256 requestId, address controller) external view returns (bool) {
        return _cancellations[controller][requestId].pending > 0;
    }

    function claimableCancelDepositRequest(uint256 requestId, address controller) external view returns (uint256) {
        return _cancellations[controller][requestId].claimable;
    }

    function supportsInterface(bytes4 interfaceId) public view override returns (bool) {
        return interfaceId == CANCEL_DEPOSIT || super.supportsInterface(interfaceId);
    }

    function _beforeDepositRequest(address controller, uint256 requestId) internal view override {
        if (_cancellations[controller][requestId].pending > 0) revert CancellationPending();
    }
}
