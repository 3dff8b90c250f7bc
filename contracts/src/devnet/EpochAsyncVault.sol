// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {AsyncVault} from "./AsyncVault.sol";

/// @title An asynchronous vault in the manner of Lagoon, for development chains and tests
/// @notice A controller has one open deposit request at a time; it is cancelled in one step and paid back at once. In
/// reads the request id 0 stands for the controller's last request.
contract EpochAsyncVault is AsyncVault {
    /// @notice The last request has to be settled or cancelled first.
    error OnlyOneRequestAllowed();

    event DepositRequestCanceled(uint256 indexed requestId, address indexed controller);

    constructor(IERC20 asset_, string memory name_, string memory symbol_, Settings memory settings)
        AsyncVault(asset_, name_, symbol_, settings)
    {}

    /// @notice Cancels the caller's open request and pays it back.
    function cancelRequestDeposit() external {
        uint256 requestId = _lastDepositId(msg.sender);
        uint256 assets = _takePending(msg.sender, requestId);
        emit DepositRequestCanceled(requestId, msg.sender);
        _refund(msg.sender, assets);
    }

    function requestDeposit(uint256 assets, address controller, address owner) public override returns (uint256) {
        if (super.pendingDepositRequest(_lastDepositId(controller), controller) > 0) revert OnlyOneRequestAllowed();
        return super.requestDeposit(assets, controller, owner);
    }

    function pendingDepositRequest(uint256 requestId, address controller) public view override returns (uint256) {
        return super.pendingDepositRequest(_orLast(requestId, controller), controller);
    }

    function claimableDepositRequest(uint256 requestId, address controller) public view override returns (uint256) {
        return super.claimableDepositRequest(_orLast(requestId, controller), controller);
    }

    function _orLast(uint256 requestId, address controller) private view returns (uint256) {
        return requestId == 0 ? _lastDepositId(controller) : requestId;
    }
}
