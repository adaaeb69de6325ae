target_sources(cotan PRIVATE ${device_sources})
