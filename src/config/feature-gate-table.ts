export type Stage = 'ALPHA' | 'BETA' | 'GA' | 'DEPRECATED';

export interface FeatureGate {
  readonly name: string;
  readonly stage: Stage;
  readonly default: boolean;
  /** A locked gate can be set only to its default. */
  readonly locked: boolean;
}

/** All gates that kube-proxy v1.36.4 knows. Most concern other programs, but a file may set any of them. */
export const FEATURE_GATES: ReadonlyMap<string, FeatureGate> = new Map(
  [
    ...group(
      { stage: 'ALPHA', default: false, locked: false },
      `
      APIServingWithRoutine AllowUnsafeMalformedObjectDeletion CBORServingAndStorage CPUManagerPolicyAlphaOptions
      CRIListStreaming CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR
      CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook ContainerStopSignals
      ControllerManagerReleaseLeaderElectionLockOnExit CrossNamespaceVolumeDataSource DRAListTypeAttributes
      DRANodeAllocatableResources DRAResourcePoolStatus DRAWorkloadResourceClaims EventedPLEG GangScheduling
      GenericWorkload HPAScaleToZero ImageVolumeWithDigest InPlacePodVerticalScalingExclusiveCPUs
      InPlacePodVerticalScalingExclusiveMemory KubeletInUserNamespace LoggingAlphaOptions
      ManifestBasedAdmissionControlConfig MemoryQoS MutablePVNodeAffinity NativeHistograms
      PersistentVolumeClaimUnusedSinceTime PodAndContainerStatsFromCRI PodLevelResourceManagers
      PodLogsQuerySplitStreams PodsAPI QOSReserved ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriApi
      ShardedListAndWatch StorageCapacityScoring StorageVersionAPI TaintTolerationComparisonOperators
      TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions UserNamespacesHostNetworkSupport
      VolumeLimitScaling WindowsCPUAndMemoryAffinity WorkloadAwarePreemption WorkloadWithJob
    `,
    ),
    ...group(
      { stage: 'BETA', default: false, locked: false },
      `
      ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode CoordinatedLeaderElection
      DRADeviceTaintRules LocalStorageCapacityIsolationFSQuotaMonitoring MaxUnavailableStatefulSet
      PodCertificateRequest SELinuxMount SchedulerAsyncAPICalls StorageVersionMigrator
    `,
    ),
    ...group(
      { stage: 'BETA', default: true, locked: false },
      `
      APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AtomicFIFO
      AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions CRDObservedGenerationTracking
      ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation ClientsAllowTLSCacheGC ComponentFlagz
      ComponentStatusz ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules ContextualLogging
      DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource DRAPartitionableDevices
      DRAResourceClaimDeviceStatus DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout
      DeclarativeValidationBeta DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency EnvFiles
      ExtendWebSocketsToKubelet GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance
      HostnameOverride InOrderInformersBatchProcess InPlacePodLevelResourcesVerticalScaling
      InPlacePodVerticalScalingInitContainers KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages
      KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LoggingBetaOptions
      MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge
      MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures
      NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching PLEGOnDemandRelist PodDeletionCost
      PodLevelResources PodReadyToStartContainersCondition PodTopologyLabelsAdmission PortForwardWebsockets
      PreventStaticPodAPIReferences RelaxedServiceNameValidation ReloadKubeletClientCAFile
      ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus ResourceHealthStatusMessage
      RestartAllContainersOnContainerExits RotateKubeletServerCertificate SchedulerAsyncPreemption
      SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate
      StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
      StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison StorageVersionHash
      StrictIPCIDRValidation StructuredAuthenticationConfigurationEgressSelector
      StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
      TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation
      UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO WatchCacheInitializationPostStartHook WatchList
      WatchListClient WindowsGracefulNodeShutdown
    `,
    ),
    ...group(
      { stage: 'GA', default: true, locked: false },
      `
      AllowServiceExternalIPs CustomCPUCFSQuotaPeriod DRAPrioritizedList InformerResourceVersion
      MutatingAdmissionPolicy
    `,
    ),
    ...group(
      { stage: 'GA', default: true, locked: true },
      `
      APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors
      AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting
      CSIServiceAccountTokenSecrets ConsistentListFromCache CustomResourceFieldSelectors DRAAdminAccess
      DeclarativeValidation DisableAllocatorDualWrite DynamicResourceAllocation ExecProbeTimeout
      ExternalServiceAccountTokenSigner ImageMaximumGCAge ImageVolume InOrderInformers InPlacePodVerticalScaling
      JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI
      KubeletFineGrainedAuthz KubeletPSI KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletTracing
      LogarithmicScaleDown MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator MutableCSINodeAllocatableCount
      NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap OrderedNamespaceDeletion
      PodLifecycleSleepAction PodLifecycleSleepActionAllowZero PodObservedGenerationTracking PodSchedulingReadiness
      PreferSameTrafficDistribution ProcMountType RecoverVolumeExpansionFailure RecursiveReadOnlyMounts
      RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization
      RetryGenerateName SELinuxChangePolicy SELinuxMountReadWriteOncePod SchedulerQueueingHints
      SeparateTaintEvictionController ServiceAccountTokenJTI ServiceAccountTokenNodeBinding
      ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo SidecarContainers
      StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration
      SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions UserNamespacesSupport
      VolumeAttributesClass WinDSR WinOverlay
    `,
    ),
    ...group(
      { stage: 'DEPRECATED', default: false, locked: false },
      `
      AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart
      DeclarativeValidationTakeover KMSv1 KubeletRegistrationGetOnExistsOnly WindowsHostNetwork
    `,
    ),
    ...group(
      { stage: 'DEPRECATED', default: true, locked: false },
      `
      DisableCPUQuotaWithExclusiveCPUs KubeletPodResourcesListUseActivePods ServiceCIDRStatusFieldWiping
      StorageNamespaceIndex
    `,
    ),
    ...group(
      { stage: 'DEPRECATED', default: false, locked: true },
      `
      AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC
    `,
    ),
    ...group(
      { stage: 'DEPRECATED', default: true, locked: true },
      `
      AggregatedDiscoveryRemoveBetaType DisableNodeKubeProxyVersion
    `,
    ),
  ].map(gate => [gate.name, gate]),
);

/** A gate that is enabled needs these gates to be enabled too. */
export const GATE_DEPENDENCIES: ReadonlyMap<string, readonly string[]> = new Map([
  ['AuthorizeNodeWithSelectors', ['AuthorizeWithSelectors']],
  ['ClusterTrustBundleProjection', ['ClusterTrustBundle']],
  ['DRAAdminAccess', ['DynamicResourceAllocation']],
  ['DRAConsumableCapacity', ['DynamicResourceAllocation']],
  ['DRADeviceBindingConditions', ['DRAResourceClaimDeviceStatus', 'DynamicResourceAllocation']],
  ['DRADeviceTaintRules', ['DRADeviceTaints']],
  ['DRADeviceTaints', ['DynamicResourceAllocation']],
  ['DRAExtendedResource', ['DynamicResourceAllocation']],
  ['DRAListTypeAttributes', ['DynamicResourceAllocation']],
  ['DRANodeAllocatableResources', ['DynamicResourceAllocation']],
  ['DRAPartitionableDevices', ['DynamicResourceAllocation']],
  ['DRAPrioritizedList', ['DynamicResourceAllocation']],
  ['DRAResourceClaimGranularStatusAuthorization', ['DRAResourceClaimDeviceStatus', 'DynamicResourceAllocation']],
  ['DRAResourcePoolStatus', ['DynamicResourceAllocation']],
  ['DRASchedulerFilterTimeout', ['DynamicResourceAllocation']],
  ['DRAWorkloadResourceClaims', ['DynamicResourceAllocation', 'GenericWorkload']],
  ['DeclarativeValidationBeta', ['DeclarativeValidation']],
  ['DeclarativeValidationTakeover', ['DeclarativeValidation']],
  ['DisableAllocatorDualWrite', ['MultiCIDRServiceAllocator']],
  ['ExtendWebSocketsToKubelet', ['NodeDeclaredFeatures']],
  ['GangScheduling', ['GenericWorkload']],
  ['GracefulNodeShutdownBasedOnPodPriority', ['GracefulNodeShutdown']],
  ['ImageVolumeWithDigest', ['ImageVolume']],
  [
    'InPlacePodLevelResourcesVerticalScaling',
    ['InPlacePodVerticalScaling', 'NodeDeclaredFeatures', 'PodLevelResources'],
  ],
  ['InPlacePodVerticalScalingExclusiveCPUs', ['InPlacePodVerticalScaling']],
  ['InPlacePodVerticalScalingExclusiveMemory', ['InPlacePodVerticalScaling']],
  ['InPlacePodVerticalScalingInitContainers', ['InPlacePodVerticalScaling', 'NodeDeclaredFeatures']],
  ['MatchLabelKeysInPodTopologySpreadSelectorMerge', ['MatchLabelKeysInPodTopologySpread']],
  ['PodCertificateRequest', ['AuthorizeNodeWithSelectors']],
  ['PodLevelResourceManagers', ['PodLevelResources']],
  ['PodLifecycleSleepActionAllowZero', ['PodLifecycleSleepAction']],
  ['ProcMountType', ['UserNamespacesSupport']],
  ['ResourceHealthStatus', ['DynamicResourceAllocation']],
  ['ResourceHealthStatusMessage', ['ResourceHealthStatus']],
  ['RestartAllContainersOnContainerExits', ['ContainerRestartRules', 'NodeDeclaredFeatures']],
  ['ServiceAccountTokenNodeBinding', ['ServiceAccountTokenNodeBindingValidation']],
  ['StaleControllerConsistencyDaemonSet', ['AtomicFIFO']],
  ['StaleControllerConsistencyJob', ['AtomicFIFO']],
  ['StaleControllerConsistencyReplicaSet', ['AtomicFIFO']],
  ['StaleControllerConsistencyStatefulSet', ['AtomicFIFO']],
  ['StorageVersionAPI', ['APIServerIdentity']],
  ['StructuredAuthenticationConfigurationEgressSelector', ['StructuredAuthenticationConfiguration']],
  ['StructuredAuthenticationConfigurationJWKSMetrics', ['StructuredAuthenticationConfiguration']],
  ['TopologyAwareWorkloadScheduling', ['GenericWorkload']],
  ['UnknownVersionInteroperabilityProxy', ['APIServerIdentity']],
  ['UserNamespacesHostNetworkSupport', ['NodeDeclaredFeatures', 'UserNamespacesSupport']],
  ['WindowsGracefulNodeShutdown', ['GracefulNodeShutdown']],
  ['WorkloadAwarePreemption', ['GangScheduling']],
  ['WorkloadWithJob', ['GenericWorkload']],
]);

function group(common: Omit<FeatureGate, 'name'>, names: string): FeatureGate[] {
  return names
    .trim()
    .split(/\s+/)
    .map(name => ({ name, ...common }));
}
